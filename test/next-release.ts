/** What a file of this release becomes when the next one has written it: each object in it has a field more. */
export const ofNextRelease = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value, added_later: ['this release does not know it'] }
      : value,
  );
