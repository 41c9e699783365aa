/** Which sessions at the service a backend may end. */
import { expect, it } from 'vitest';
import { findUnused, isOver, shownSession, wasUsed } from '../../../src/backend/issuing/session-upkeep.ts';
import type { ServiceClient } from '../../../src/backend/service/service-client.ts';
import type { Session, SessionWithToken } from '../../../src/protocol/service/session.ts';

const OWN = 'museum/kiosk/main';
const session = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  intent: 's2s',
  connection_type: 'ws',
  single_use: true,
  status: 'pending',
  client_reference_id: OWN,
  created_at: '2026-11-28T12:00:00Z',
  connect_by: '2026-11-28T12:01:00Z',
  ...more,
});
/** A service that ignores the filter. */
const serviceOf = (...sessions: Session[]) =>
  ({
    listSessions: async () => sessions,
    getSession: async (id: string) => sessions.find((one) => one.id === id) ?? null,
  }) as Partial<ServiceClient> as ServiceClient;

it('are those of the lane that no stream has used, eight at most', async () => {
  const others = [
    session('of another lane', { client_reference_id: 'museum/kiosk/second' }),
    session('without a name', { client_reference_id: null }),
    session('was in use', { first_connected_at: '2026-11-28T12:00:05Z' }),
    session('in use', { active_stream_count: 1 }),
    session('over', { status: 'expired' }),
  ];
  const found = (sessions: Session[], sessionId: string | null = null) =>
    findUnused(serviceOf(...sessions), { reference: OWN, sessionId });
  expect(await found([...others, session('unused'), session('too')])).toEqual(['unused', 'too']);
  for (const { id } of others) expect(await found(others, id), id).toEqual([]);
  expect(await found([session('unused')], 'unused')).toEqual(['unused']);
  expect(await found([], 'gone')).toEqual([]);
  const many = Array.from({ length: 9 }, (_, index) => session(`s${index}`));
  expect(await found(many)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']);
});

it('a session is over by its status, unless a stream still runs', () => {
  const over = (status: string, active_stream_count = 0) =>
    isOver(session('s', { status: status as Session['status'], active_stream_count }));
  expect(
    ['used', 'expired', 'revoked', 'deleted', 'ended', 'finished'].map((status) => over(status)),
  ).toEqual(Array(6).fill(true));
  expect([over('pending'), over('something new'), over('used', 1)]).toEqual([false, false, false]);
});

it('a session that a stream has used stays used when it is over: its request needs no second one', () => {
  const connected = { first_connected_at: '2026-11-28T12:00:05Z' };
  const used = (status: string, more: Partial<Session> = {}) =>
    wasUsed(session('s', { status: status as Session['status'], ...more }));
  expect([
    used('used', connected),
    used('ended', connected),
    used('used', { active_stream_count: 1 }),
  ]).toEqual([true, true, true]);
  expect([used('pending'), used('expired'), used('revoked')]).toEqual([false, false, false]);
});

it('a device gets the fields that it needs, and the longest stream also when the service leaves it out', () => {
  const made = { ...session('s'), token: 't', owner: 'x' };
  const shown = (more: Partial<SessionWithToken>, maxS?: number) => shownSession({ ...made, ...more }, maxS);
  expect(shown({}, 600)).toMatchObject({ id: 's', token: 't', max_session_duration_seconds: 600 });
  expect(shown({ max_session_duration_seconds: 60 }, 600)).toMatchObject({
    max_session_duration_seconds: 60,
  });
  const without = shown({});
  expect(Object.keys(without)).not.toContain('max_session_duration_seconds');
  for (const key of ['owner', 'webrtc']) expect(Object.keys(without)).not.toContain(key);
  const webrtc = { url: 'wss://room.example', room_name: 'room' };
  expect(shown({ webrtc })).toMatchObject({ webrtc });
});
