/** Where Qwen Code has a session of an id: in the folder of whichever directory. */
import { filesInFolders } from "../../kit/sources/discovery.ts";
import type { Place } from "../../kit/sources/index.ts";
import type { PresentSession } from "../../kit/adapter/index.ts";
import { EXTENSION } from "../layout.ts";

export const present = (id: string, place: Place): Promise<readonly PresentSession[]> =>
  filesInFolders(place, `chats/${id}${EXTENSION}`);
