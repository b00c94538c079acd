/** The closed sets of the model as values; the schemas and the row decoder share them. */
export const roles = ["system", "user", "assistant", "tool"] as const;
export const provenances = ["conversational", "injected"] as const;
export const relations = ["spawn", "fork", "resume", "compact"] as const;
export const partTypes = [
  "text",
  "reasoning",
  "file",
  "tool_call",
  "tool_result",
  "tool_approval_request",
  "tool_approval_response",
] as const;
