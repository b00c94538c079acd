/** Formats as tables of shapes, which work both ways. */
export type { BlockShape, Injected, RecordShapes, TurnShape } from "./shapes.ts";
export type { Pointer } from "./pointer.ts";
export { ShapedRecords, shapedRecord } from "./records.ts";
