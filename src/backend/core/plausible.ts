import type { RecentStreams } from '../../ports/store.ts';

/** The shortest conversation that is common at a busy desk (ms). */
const SHORTEST_MS = 10_000;
/** While the service is away, keys and screens still begin conversations. */
const WITHOUT_STREAM = 50;

/** How many conversations a device can have had in the time of its recent streams. */
export function mostConversations({ sessions, ms }: RecentStreams): number {
  return WITHOUT_STREAM + sessions + Math.floor(ms / SHORTEST_MS);
}
