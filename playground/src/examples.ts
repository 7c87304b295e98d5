// What is there to try?
import barrier from "../examples/barrier.cu";
import blur from "../examples/blur.cu";
import stride from "../examples/stride.cu";
import sum from "../examples/sum.cu";
import total from "../examples/total.cu";
import transpose from "../examples/transpose.cu";

/** Texts by what they show. */
export const EXAMPLES: [string, string][] = [
  ["Bank conflict: a column of a tile", transpose],
  ["Bank conflict: depends on a value", stride],
  ["Race: a missing barrier", blur],
  ["Race: a missing atomic", total],
  ["Barrier that not all threads reach", barrier],
  ["Nothing to complain of: a sum", sum],
];
