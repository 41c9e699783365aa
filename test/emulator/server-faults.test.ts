import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { connect, refusedUpgrade, streamUrl } from './client.ts';
import { chunks, noise, pcm, speech } from './core/voice.ts';
import { open, start } from './started-emulator.ts';

const HZ = 24_000;

describe('refusals over a real socket', () => {
  test.each([
    [{ reason: 'forbidden', bare: true }, 403],
    [{ reason: 'not_found', bare: true }, 404],
    [{ reason: 'forbidden', bare: true, status: 404 }, 404],
  ])('happen once, without a body: %j', async (order, status) => {
    const emulator = await start();
    emulator.fault({ kind: 'refuse', ...order });
    expect(await refusedUpgrade(streamUrl(emulator))).toMatchObject({ status, text: '' });
    await connect(streamUrl(emulator));
  });

  test('have a Retry-After of a year when ordered', async () => {
    const emulator = await start();
    emulator.fault({ kind: 'refuse', reason: 'unavailable', retry_after_s: 31_536_000 });
    expect(await refusedUpgrade(streamUrl(emulator))).toMatchObject({ status: 503, retryAfter: '31536000' });
  });
});

describe('faults over a real socket', () => {
  test('reset the connection without a close with drop', async () => {
    const emulator = await start();
    const client = await open(emulator);
    emulator.fault({ kind: 'drop' });
    expect((await client.closed).code).toBe(1006);
    expect(emulator.reports()[0]?.closed).toMatchObject({ code: 1006, by: 'service' });
  });

  test('hit a stream as soon as it opens when they wait for one', async () => {
    const emulator = await start();
    emulator.fault({ kind: 'drop' });
    const dropped = await connect(streamUrl(emulator));
    expect((await dropped.closed).code).toBe(1006);
    emulator.fault({ kind: 'warning', code: 'FIRST' });
    emulator.fault({ kind: 'close', code: 1011, reason: 'oops' });
    const closed = await connect(streamUrl(emulator));
    expect(await closed.closed).toEqual({ code: 1011, reason: 'oops' });
    expect(closed.received).toMatchObject([{ data: { code: 'FIRST' } }]);
  });

  test('end a stream with revoke and max_duration', async () => {
    const emulator = await start({ heartbeatMs: 100 });
    const revoked = await open(emulator);
    emulator.fault({ kind: 'revoke' });
    expect((await revoked.closed).reason).toBe('session_revoked');
    expect(revoked.received.at(-1)?.message_type).toBe('session_revoked');
    const ended = await open(emulator);
    emulator.fault({ kind: 'max_duration' });
    expect((await ended.closed).reason).toBe('max_duration_reached');
    expect(ended.received.at(-1)?.message_type).toBe('max_duration_reached');
  });

  test('send not even a pong in a black hole, then everything at once', async () => {
    const emulator = await start({ translate: 'echo', heartbeatMs: 20 });
    const client = await open(emulator);
    emulator.fault({ kind: 'black_hole', for_ms: 5000 });
    let heard = 0;
    for (const event of ['ping', 'pong', 'message'] as const) client.socket.on(event, () => (heard += 1));
    await sleep(60);
    heard = 0;
    client.socket.ping();
    client.audio(pcm(speech(0.32, HZ)));
    await sleep(200);
    expect(heard).toBe(0);
    await expect.poll(() => client.sound().length).toBe(HZ * 0.32 * 2);
    expect(heard).toBeGreaterThan(1);
  });

  test('receive slowly with slow_read', async () => {
    const emulator = await start();
    const client = await open(emulator);
    emulator.fault({ kind: 'slow_read', bytes_per_s: 100_000 });
    const began = performance.now();
    for (const chunk of chunks(noise(3.2, HZ, 3000), HZ)) client.audio(chunk);
    const read = () => emulator.reports()[0]?.frames_in ?? 0;
    await expect.poll(read).toBeGreaterThan(0);
    // The most that may have been read by now, even on a busy machine: at 300 ms at most eight.
    expect(read()).toBeLessThan(5 + (performance.now() - began) / 100);
    await expect.poll(read).toBe(10);
    expect(performance.now() - began).toBeGreaterThan(350);
  });

  test('send malformed and oversized frames unchanged', async () => {
    const emulator = await start();
    const client = await open(emulator);
    emulator.fault({ kind: 'malformed', form: 'not_json' });
    emulator.fault({ kind: 'malformed', form: 'no_type' });
    emulator.fault({ kind: 'oversized', bytes: 1_500_000 });
    await client.next('pipeline_timings');
    expect(client.odd).toHaveLength(2);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  test.each([
    ['bad_utf8', 1007],
    ['bad_frame', 1002],
  ])('send %s, which the client must close with %i', async (form, code) => {
    const emulator = await start();
    const client = await open(emulator);
    emulator.fault({ kind: 'malformed', form });
    await client.closed;
    await expect.poll(() => emulator.reports()[0]?.closed).toMatchObject({ code, by: 'client' });
    expect(client.odd).toEqual([]);
  });

  test('distinguish a binary frame from a text frame', async () => {
    const emulator = await start();
    const client = await open(emulator);
    const forms: boolean[] = [];
    client.socket.on('message', (_frame: Buffer, isBinary: boolean) => forms.push(isBinary));
    emulator.fault({ kind: 'malformed', form: 'binary' });
    emulator.fault({ kind: 'malformed', form: 'not_json' });
    await expect.poll(() => forms).toEqual([true, false]);
  });

  test('answer only pings as a zombie', async () => {
    const emulator = await start();
    const client = await open(emulator);
    emulator.fault({ kind: 'zombie' });
    let pongs = 0;
    client.socket.on('pong', () => (pongs += 1));
    const before = client.received.length;
    for (const chunk of chunks(speech(0.64, HZ), HZ)) client.audio(chunk);
    client.send('get_task');
    client.socket.ping();
    await expect.poll(() => pongs).toBe(1);
    await expect.poll(() => emulator.reports()[0]?.frames_in).toBe(2);
    expect(client.received).toHaveLength(before);
  });

  test('delay an upgrade', async () => {
    const emulator = await start();
    emulator.fault({ kind: 'slow_upgrade', ms: 200 });
    const before = performance.now();
    await connect(streamUrl(emulator));
    expect(performance.now() - before).toBeGreaterThan(190);
  });
});
