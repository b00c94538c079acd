/** Why a derived table cannot be read: it is gone, or it is damaged. Either way what it holds can be computed. */
import { isPondError } from "../../base/errors.ts";

/** Gone, perhaps because another process is making it anew, or damaged. */
export const isUnavailable = (error: unknown): boolean =>
  isPondError(error) && error.code === "storage_unavailable";

export const isDamaged = (error: unknown): boolean =>
  isUnavailable(error) && isPondError(error) && error.reason === "corrupt";
