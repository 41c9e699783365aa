import type { RecentStreams } from '../../ports/store.ts';

/** Length of a short conversation at a busy desk (ms). */
const SHORTEST_MS = 10_000;
/** Allowance for conversations without a stream: keys and screens begin them even while the service is down. */
const WITHOUT_STREAM = 50;

/** Maximum number of conversations that fit into a device's recent streams. */
export function mostConversations({ sessions, ms }: RecentStreams): number {
  return WITHOUT_STREAM + sessions + Math.floor(ms / SHORTEST_MS);
}
