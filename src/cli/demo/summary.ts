import type { LaneAccount } from '../../device/lane/runner/lane-account.ts';
import type { LatencySummary } from '../../device/lane/runner/latency.ts';
import { LANE_DEFAULTS } from '../../device/lane/state/lane-options.ts';

/** The last line of `demo --json`, under the key `summary`. */
export interface DemoSummary {
  readonly captured_chunks: number;
  readonly sent_chunks: number;
  readonly silenced_chunks: number;
  /** Silenced chunks that were captured while the microphone was muted. */
  readonly muted_chunks: number;
  readonly trimmed_chunks: number;
  readonly dropped_chunks: number;
  readonly held_chunks: number;
  readonly played_ms: number;
  readonly sessions: number;
  readonly rollovers: number;
  readonly revocations: number;
  readonly capture_to_wire_ms: { readonly p50: number; readonly p99: number } | null;
  readonly wire_to_speaker_ms: { readonly p50: number; readonly p99: number } | null;
  readonly lost_audio_ms: number;
  /** Chunks that a broken session had not translated, and that were sent again in the next session. */
  readonly resent_chunks: number;
  /** Sentences that the service transcribed. */
  readonly sentences: number;
  /** Sentences that the service translated. */
  readonly translations: number;
  /** Injected faults, in order. */
  readonly faults: readonly string[];
  /** Requested faults that were not injected. */
  readonly missed_faults: readonly string[];
  /** From the start of the process to the first chunk on the wire. */
  readonly first_chunk_ms: number | null;
  /** The service's part of `first_chunk_ms`: from `set_task` to the running task, as seen by the agent. */
  readonly service_setup_ms: number | null;
  /** Resident memory of this process, which holds the agent, the broker and the view. */
  readonly rss_mb: number;
  readonly output: string;
}

const quantiles = (latency: LatencySummary | null) =>
  latency === null ? null : { p50: latency.p50, p99: latency.p99 };

export function summarise(
  account: LaneAccount,
  rest: Pick<
    DemoSummary,
    | 'muted_chunks'
    | 'sentences'
    | 'translations'
    | 'faults'
    | 'missed_faults'
    | 'first_chunk_ms'
    | 'service_setup_ms'
    | 'rss_mb'
    | 'output'
  >,
): DemoSummary {
  return {
    captured_chunks: account.captured,
    sent_chunks: account.sent,
    silenced_chunks: account.silenced,
    trimmed_chunks: account.trimmed,
    dropped_chunks: account.dropped,
    held_chunks: account.held,
    played_ms: account.played_ms,
    sessions: account.sessions,
    rollovers: account.rollovers,
    revocations: account.revocations,
    capture_to_wire_ms: quantiles(account.capture_to_wire_ms),
    wire_to_speaker_ms: quantiles(account.wire_to_speaker_ms),
    lost_audio_ms: account.lost_ms,
    resent_chunks: account.takenBack,
    ...rest,
  };
}

/** Describes how long the lane did not listen, and why: such speech does not count as lost. */
function describeSilenced({ silenced_chunks, muted_chunks }: DemoSummary): [string, string][] {
  const muted = Math.min(silenced_chunks, muted_chunks);
  const seconds = (chunks: number): string => ((chunks * LANE_DEFAULTS.chunkMs) / 1000).toFixed(1);
  const reasons = [
    { chunks: muted, why: 'while the microphone was muted' },
    { chunks: silenced_chunks - muted, why: 'while the loudspeaker spoke (half-duplex)' },
  ].filter(({ chunks }) => chunks > 0);
  if (reasons.length === 0) return [];
  return [
    ...reasons.map(({ chunks, why }, index): [string, string] => [
      index === 0 ? 'not heard' : '',
      `${seconds(chunks)} s, ${why}`,
    ]),
    ['', 'speech during this time is cut and not interpreted'],
  ];
}

/** Formats the summary for a person, within 80 columns. */
export function formatSummary(summary: DemoSummary): string {
  const latency = (pair: DemoSummary['capture_to_wire_ms']): string =>
    pair === null
      ? 'not measured'
      : `${pair.p50.toFixed(1)} ms typically, ${pair.p99.toFixed(1)} ms at worst (p99)`;
  const { captured_chunks: captured, sent_chunks: sent, silenced_chunks: silenced } = summary;
  const rows: [string, string][] = [
    ['sentences', `${summary.sentences} heard, ${summary.translations} translated`],
    ['chunks', `${captured} captured = ${sent} sent + ${silenced} silenced +`],
    [
      '',
      `${summary.trimmed_chunks} trimmed + ${summary.dropped_chunks} dropped + ${summary.held_chunks} held`,
    ],
    ['sessions', `${summary.sessions} (${summary.rollovers} rollovers, ${summary.revocations} revocations)`],
    ['mic to wire', latency(summary.capture_to_wire_ms)],
    ['wire to ear', latency(summary.wire_to_speaker_ms)],
    ['speech lost', `${summary.lost_audio_ms} ms`],
    ...describeSilenced(summary),
    ...(summary.faults.length > 0 ? [['faults', summary.faults.join(', ')] as [string, string]] : []),
    ['played', `${(summary.played_ms / 1000).toFixed(1)} s, recorded in ${summary.output}`],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(12)} ${value}\n`).join('');
}
