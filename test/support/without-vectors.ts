/**
 * Settings of tests that are about something else than vectors: with none a sync of a few records takes half the time, and what
 * a search finds is decided by its words alone. Tests of the default name no provider.
 */
export const WITHOUT_VECTORS = { POND_EMBEDDINGS_PROVIDER: "none" } as const;
