declare module "*.cu" {
  const text: string;
  export default text;
}

/** Makes the drawings below an element usable: templates/drawings.js. */
declare function drawings(from: ParentNode): void;
