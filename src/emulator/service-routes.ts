import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { SESSION_PATHS } from '../protocol/service/session.ts';
import { VOICE_PATHS } from '../protocol/service/voice.ts';
import { streamSecretOf } from './core/credentials.ts';
import { refuse, webrtcDetail } from './core/refusal.ts';
import * as sessions from './core/session-api.ts';
import * as voices from './core/voice-api.ts';
import { type AppSetup, type HttpContext, handle, readJson, reply } from './http-exchange.ts';
import { MalformedUpload, readUpload } from './upload-reader.ts';

type App = Hono<{ Bindings: HttpBindings }>;
type Handler = (request: sessions.ApiRequest, api: sessions.ApiContext) => ReturnType<typeof refuse>;
type IdHandler = (id: string, ...rest: Parameters<Handler>) => ReturnType<Handler>;

/** The HTTP interface of the service: docs/service.md 4.1 to 4.6. */
export function addServiceRoutes(app: App, setup: AppSetup): void {
  /** Checks credentials before the body: a caller without access gets no hints about the body. */
  const post = (
    path: string,
    wanted: (request: sessions.ApiRequest, api: sessions.ApiContext) => boolean,
    handler: Handler,
  ): void => {
    app.post(path, async (context) => {
      const body = await readJson(context, setup.nextInstance());
      return handle(setup, context, body.ok ? body.json : undefined, (request, api) =>
        body.ok || !wanted(request, api) ? handler(request, api) : body.answer,
      );
    });
  };
  const get = (path: string, handler: Handler): void => {
    app.get(path, (context) => handle(setup, context, undefined, handler));
  };
  const byId = (method: 'get' | 'delete', path: string, handler: IdHandler): void => {
    app[method](`${path}/:id`, (context) => {
      const id = context.req.param('id') ?? '';
      return handle(setup, context, undefined, (request, api) => handler(id, request, api));
    });
  };

  post(
    SESSION_PATHS.sessions,
    (request, api) => sessions.demand('api_key', request, api) === null,
    sessions.createSession,
  );
  get(SESSION_PATHS.sessions, sessions.listSessions);
  byId('get', SESSION_PATHS.sessions, sessions.getSession);
  byId('delete', SESSION_PATHS.sessions, sessions.deleteSession);

  post(
    SESSION_PATHS.legacyCreate,
    (request, api) => sessions.demandLegacy(request, api) === null,
    sessions.createLegacySession,
  );
  get(SESSION_PATHS.legacySessions, sessions.listLegacySessions);
  byId('get', SESSION_PATHS.legacySessions, sessions.getLegacySession);
  byId('delete', SESSION_PATHS.legacySessions, sessions.deleteLegacySession);

  const voicePath = VOICE_PATHS.voice('').slice(0, -1);
  post(VOICE_PATHS.clone, (request, api) => sessions.demand('jwt', request, api) === null, voices.cloneVoice);
  byId('get', voicePath, voices.getVoice);
  byId('delete', voicePath, voices.deleteVoice);

  app.post(`${voices.UPLOAD_PATH}/:blob`, async (context) => {
    const { uploadMaxBytes } = setup.getRuntime().service.choices;
    try {
      const upload = await readUpload(context.env.incoming, uploadMaxBytes);
      const blob = context.req.param('blob');
      return handle(setup, context, undefined, (_request, api) => voices.takeUpload(blob, upload, api));
    } catch (problem) {
      if (!(problem instanceof MalformedUpload)) throw problem;
      return reply(context, refuse('malformed_body', setup.nextInstance(), [problem.message]));
    }
  });

  const webrtc = (context: HttpContext): Response => {
    const runtime = setup.getRuntime();
    const secret = context.req.query('token') ?? streamSecretOf(context.req.header('authorization'));
    const reason = runtime.act((now) => runtime.service.objectToWebrtc(secret, now));
    return reply(context, refuse(reason, setup.nextInstance(), [webrtcDetail(reason)]));
  };
  app.all('/webrtc', webrtc);
  app.all('/webrtc/*', webrtc);
}
