/** Sources that answer one question in different ways, as replicas do that disagree. */

/** A sentence about such a stream. */
export const describeRestless = (stream: string): string =>
  `${stream}: its source answers one question in different ways (do its replicas agree?), so it is asked again and again until nothing new comes`;
