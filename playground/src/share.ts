// How does a text become part of an address, and how is it read from there?
import type { Wish } from "./analyzer";

const KEY = "#code=";
/** The longest text that is unpacked, in bytes: an address may come from anybody. */
const MOST_BYTES = 1 << 20;

async function bytes(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) throw new Error("the shared text is too long");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

const stream = (data: BlobPart) => new Blob([data]).stream();

/** The part of an address behind and with `#`. */
export async function toFragment(wish: Wish): Promise<string> {
  const packed = stream(JSON.stringify(wish)).pipeThrough(new CompressionStream("deflate-raw"));
  const data = await bytes(packed, Number.POSITIVE_INFINITY);
  const text = Array.from(data, (byte) => String.fromCharCode(byte)).join("");
  return KEY + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What an address holds; `null` if it holds nothing, an error if that cannot be read. */
export async function fromFragment(fragment: string): Promise<Wish | null> {
  if (!fragment.startsWith(KEY)) return null;
  const text = atob(fragment.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = stream(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  const data = await bytes(packed.pipeThrough(new DecompressionStream("deflate-raw")), MOST_BYTES);
  const wish: Record<string, unknown> = JSON.parse(new TextDecoder().decode(data));
  const field = (name: string) => (typeof wish[name] === "string" ? wish[name] : "");
  return { text: field("text"), target: field("target"), block: field("block") };
}
