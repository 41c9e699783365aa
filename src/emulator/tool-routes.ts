import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { refuse } from './core/refusal.ts';
import { type AppSetup, reply } from './http-exchange.ts';

type App = Hono<{ Bindings: HttpBindings }>;

/** The format of all sound of a stream (docs/service.md 6). */
const RATE_HZ = 24_000;

/** 16-bit mono as a WAV file. */
function wavOf(pcm: Uint8Array): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(44 + pcm.byteLength);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(36 + pcm.byteLength, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE_HZ, 24);
  file.writeUInt32LE(RATE_HZ * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(pcm.byteLength, 40);
  file.set(pcm, 44);
  return new Uint8Array(file);
}

/** Routes for developers: recorded sound, and the reset. */
export function addToolRoutes(app: App, setup: AppSetup): void {
  const service = () => setup.getRuntime().service;
  const notFound = (detail: string) => refuse('not_found', setup.nextInstance(), [detail]);

  app.post('/emulator/reset', (context) => {
    setup.reset();
    return context.body(null, 204);
  });

  app.get('/emulator/streams/:id/sound', (context) => {
    const id = context.req.param('id');
    const way = context.req.query('way') ?? 'sent';
    if (way !== 'sent' && way !== 'received') {
      const detail = 'way: must be "sent" (sound of the service) or "received" (sound of the client)';
      return reply(context, refuse('validation_error', setup.nextInstance(), [detail]));
    }
    const stream = service().stream(id === 'newest' ? undefined : id);
    if (stream === undefined)
      return reply(
        context,
        notFound('this stream is neither running nor recently closed; GET /emulator/streams lists them'),
      );
    const recording = stream.recording.read();
    const pcm = recording[way];
    if (pcm.byteLength === 0) {
      const detail =
        'the sound of this stream is not recorded; "--set recordBytes=50000000" keeps 17 minutes of each direction of each stream';
      return reply(context, notFound(detail));
    }
    const name = `${stream.report.id}-${way}.wav`;
    return context.body(wavOf(pcm), 200, {
      'Content-Type': 'audio/wav',
      'Content-Disposition': `attachment; filename="${name}"`,
      ...(recording.truncated ? { 'X-Truncated': 'true' } : {}),
    });
  });
}
