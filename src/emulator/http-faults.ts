import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { SESSION_PATHS } from '../protocol/service/session.ts';
import { VOICE_PATHS } from '../protocol/service/voice.ts';
import type { FaultRoute } from './core/fault-registry.ts';
import { type Answer, refuse } from './core/refusal.ts';
import { UPLOAD_PATH } from './core/voice-api.ts';
import { type AppSetup, reply } from './http-exchange.ts';

/** Time (ms) after which an unanswered request is closed if the fault has no `ms`. */
const HANG_MS = 120_000;
/** Delay of a slow answer (ms) if the fault has no `ms`. */
const SLOW_MS = 3000;

/** The kind of a request, as a `route` of the `http` fault. */
function routeOf(method: string, path: string): FaultRoute | null {
  if (path === SESSION_PATHS.sessions && method === 'POST') return 'create';
  if (path.startsWith(SESSION_PATHS.sessions)) return 'sessions';
  if (path.startsWith(SESSION_PATHS.legacyCreate)) return 'legacy';
  if (path.startsWith(UPLOAD_PATH)) return 'upload';
  return path.startsWith('/saas/') || path === VOICE_PATHS.clone ? 'voice' : null;
}

function statusAnswer(
  fault: { status: number; retry_after_s?: number | undefined; reason?: Answer | undefined },
  instance: string,
): Answer {
  const reason =
    fault.status === 429 ? 'rate_limit_exceeded' : fault.status >= 500 ? 'unavailable' : 'forbidden';
  const answer = fault.reason ?? refuse(reason, instance, ['on demand'], fault.status);
  if (fault.retry_after_s === undefined) return answer;
  return { ...answer, headers: { 'Retry-After': String(fault.retry_after_s) } };
}

/** Applies ordered faults to requests: a status, a timeout, a reset, an invalid answer, or a slow one. */
export function httpFaults(setup: AppSetup): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (context, next) => {
    const route = routeOf(context.req.method, context.req.path);
    const fault = route === null ? null : setup.getRuntime().service.faults.takeHttpFault(route);
    if (fault === null) return next();
    const { socket } = context.env.incoming;
    switch (fault.answer) {
      case 'slow':
        await sleep(fault.ms ?? SLOW_MS, undefined, { ref: false });
        return next();
      case 'garbage':
        return context.html('<html><body>502 Bad Gateway</body></html>', 200);
      case 'reset':
        setup.plumbing.reset(socket);
        return context.body(null, 503);
      case 'timeout':
        await sleep(fault.ms ?? HANG_MS, undefined, { ref: false });
        socket.destroy();
        return context.body(null, 503);
      case 'status': {
        const instance = setup.nextInstance();
        const reason = fault.reason === undefined ? undefined : refuse(fault.reason, instance);
        return reply(context, statusAnswer({ ...fault, reason }, instance));
      }
    }
  };
}
