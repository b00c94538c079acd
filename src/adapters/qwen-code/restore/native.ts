/** Records of Qwen Code as they were, by its table of shapes (spec.md#adapter-native-restore-lossless). */
import type { JsonValue } from "../../../base/json/json.ts";
import type { SessionState } from "../../../model/events/index.ts";
import type { RecordHashes } from "../../kit/files/index.ts";
import type { RecordGroup } from "../../kit/restore/index.ts";
import { logHashes } from "../../kit/restore/index.ts";
import { shapedRecord } from "../../kit/shapes/index.ts";
import { SHAPES } from "../parse/shapes.ts";

export const RECORDS = { record: (group: RecordGroup): JsonValue => shapedRecord(group, SHAPES) };

export const hashes = (state: SessionState): RecordHashes => logHashes(state, RECORDS);
