import { expect, it } from 'vitest';
import { type DemoSummary, formatSummary } from '../../../src/cli/demo/summary.ts';

const SUMMARY: DemoSummary = {
  captured_chunks: 146,
  sent_chunks: 146,
  silenced_chunks: 0,
  muted_chunks: 0,
  trimmed_chunks: 0,
  dropped_chunks: 0,
  held_chunks: 0,
  played_ms: 24_600,
  sessions: 1,
  rollovers: 0,
  revocations: 0,
  lost_audio_ms: 0,
  capture_to_wire_ms: null,
  wire_to_speaker_ms: null,
  resent_chunks: 0,
  sentences: 8,
  translations: 8,
  faults: [],
  missed_faults: [],
  first_chunk_ms: null,
  service_setup_ms: null,
  rss_mb: 90,
  output: 'out.wav',
};

it('counts the sound that a closed microphone did not hear beside the lost speech', () => {
  const text = formatSummary({ ...SUMMARY, sent_chunks: 102, silenced_chunks: 44 });
  expect(text).toContain(
    '  speech lost  0 ms\n  not heard    14.1 s, while the loudspeaker spoke (half-duplex)\n',
  );
  expect(text).toContain('speech during this time is cut and not interpreted\n');
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(80);
});

it('says which sound a mute kept out', () => {
  const muted = formatSummary({ ...SUMMARY, sent_chunks: 102, silenced_chunks: 44, muted_chunks: 50 });
  expect(muted).toContain('  not heard    14.1 s, while the microphone was muted\n');
  expect(muted).not.toContain('half-duplex');
  const both = formatSummary({ ...SUMMARY, sent_chunks: 102, silenced_chunks: 44, muted_chunks: 10 });
  expect(both).toContain(
    '  not heard    3.2 s, while the microphone was muted\n' +
      '               10.9 s, while the loudspeaker spoke (half-duplex)\n',
  );
});

it('leaves the line out when the microphone heard all', () => {
  expect(formatSummary(SUMMARY)).not.toContain('not heard');
});
