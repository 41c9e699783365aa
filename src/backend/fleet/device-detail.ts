/** What the console shows of one device. Captions are not part of it. */

import type { ReceivedLane } from '../../fleet/device-messages.ts';
import { type ReceivedHealth, receivedHealthSchema } from '../../fleet/health-message.ts';
import { isObject, parseJson, textAt } from '../../protocol/common/json.ts';
import type {
  DeviceDetail,
  DeviceEvent,
  DeviceLane,
  DeviceNotice,
  DeviceVitals,
} from '../../protocol/console-device.ts';
import { count } from '../../protocol/mqtt/bounds.ts';
import { clean, cleanList, cleanOrNull, cleanSentence, cleanTime } from './clean.ts';
import { type FleetDevice, readState, timeText } from './fleet-device.ts';

const MOST_LANES = 16;

export function detailOf(device: FleetDevice, prefix: string): DeviceDetail {
  const { row, texts, heardAt, logUntil } = device;
  const state = readState(texts);
  const parsed = receivedHealthSchema.safeParse(parseJson(texts.health ?? ''));
  const health = parsed.success ? parsed.data : null;
  return {
    row,
    topic: `${prefix}/${device.name}`,
    heardAt: timeText(heardAt),
    lanes: (state?.lanes ?? []).slice(0, MOST_LANES).map((lane) => laneOf(lane, health)),
    budget: budgetOf(state),
    health: health === null ? null : vitalsOf(health),
    events: device.events.map((text) => JSON.parse(text) as DeviceEvent),
    logUntil: timeText(logUntil),
  };
}

function laneOf(lane: ReceivedLane, health: ReceivedHealth | null): DeviceLane {
  const measured = health?.lanes.find(({ id }) => id === lane.id);
  return {
    id: clean(lane.id, 64),
    phase: clean(lane.phase, 40),
    source: clean(lane.source, 40),
    targets: cleanList(lane.targets),
    muted: lane.muted,
    volume: lane.volume,
    capture: clean(lane.capture),
    playback: clean(lane.playback),
    captureFindings: cleanList(lane.capture_findings),
    echo: clean(lane.echo.mode, 40),
    session: cleanOrNull(lane.session),
    streamHost: cleanOrNull(lane.stream_host),
    nextTryAt: cleanTime(lane.next_try_at),
    closedUntil: cleanTime(textAt(lane, 'closed_until')),
    inConversation: isObject(lane['conversation']),
    speechLostMs: lane.speech_lost_ms,
    unspokenMs: lane.unspoken_ms,
    speechDroppedMs: lane.speech_dropped_ms,
    lastError: noticeOf(lane.last_error),
    lastWarning: noticeOf(lane.last_warning),
    levelDbfs: measured?.level_dbfs ?? null,
    captureToWireMs: measured?.capture_to_wire_ms?.p99 ?? null,
    wireToSpeakerMs: measured?.wire_to_speaker_ms?.p99 ?? null,
  };
}

function noticeOf(notice: ReceivedLane['last_error']): DeviceNotice | null {
  if (notice === null) return null;
  return {
    at: cleanTime(textAt(notice, 'ts')),
    code: clean(notice.code, 60),
    message: cleanSentence(notice.message),
  };
}

function budgetOf(state: unknown): DeviceDetail['budget'] {
  const budget = isObject(state) ? state['budget'] : null;
  if (!isObject(budget)) return null;
  const used = count.safeParse(budget['used_minutes']);
  const most = count.safeParse(budget['minutes_per_day']);
  return used.success && most.success ? { usedMinutes: used.data, minutesPerDay: most.data } : null;
}

function vitalsOf(health: ReceivedHealth): DeviceVitals {
  return {
    at: cleanTime(health.ts),
    rssBytes: health.rss_bytes,
    temperatureC: health.temperature_c,
    uptimeS: health.uptime_s ?? 0,
    loopLagMs: health.loop_lag_ms?.p99 ?? null,
    reconnects: health.reconnects ?? 0,
    outboxDropped: health.outbox?.dropped ?? 0,
  };
}
