/**
 * The routes of the owner's console. Only this file decides about access to them.
 * All bodies are JSON, in both directions, except the page itself, the stream and the CSV. A request that changes something
 * is a POST, with the headers that a browser sends for the page's own `fetch` (Origin, Sec-Fetch-Site) and
 * `Content-Type: application/json`. A failure is `{"error": ConsoleProblem}` with the status 4xx or 5xx.
 *
 * Device names contain a slash (`museum/kiosk-01`): in a path they are two parts.
 */

/** Roles of people, from least to most rights. Each role includes the rights of those before it. */
export const CONSOLE_ROLES = ['viewer', 'operator', 'administrator'] as const;
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** `public`: also without signing in. */
export type RouteAccess = ConsoleRole | 'public';

/** Lowest role for each route. A part that begins with ":" stands for any text without a slash. */
export const CONSOLE_ROUTES = {
  /** SignInRequest -> Me, and sets the cookie. 401 `wrong`, 429 `too_often` with `retryAfterS`. */
  'POST /api/sign-in': 'public',
  /** {} -> {} */
  'POST /api/sign-out': 'viewer',
  /** -> Me; 401 `signed_out` */
  'GET /api/me': 'viewer',
  /** PasswordChange -> Me; ends the person's other sessions */
  'POST /api/me/password': 'viewer',
  /** -> Registry: commands as data for forms, the schema of the desired configuration */
  'GET /api/registry': 'viewer',

  /** `?view=` FleetView as JSON, `?device=` name -> server-sent events: StreamMessage by the event's name */
  'GET /api/stream': 'viewer',
  /** The same query -> StreamSnapshot, for a page that cannot receive a stream */
  'GET /api/snapshot': 'viewer',
  /** ViewChange -> {}: the stream sends the new window at once (`StreamDiff.window`), then its changes */
  'POST /api/stream/view': 'viewer',
  /** `?view=` FleetView as JSON -> FleetWindow */
  'GET /api/devices': 'viewer',

  /** -> DeviceDetail */
  'GET /api/devices/:tenant/:device': 'viewer',
  /** -> DeviceHealth: 24 hours */
  'GET /api/devices/:tenant/:device/health': 'viewer',
  /** -> DeviceConfig */
  'GET /api/devices/:tenant/:device/config': 'viewer',
  /** LogRequest -> JobAnswer; the lines arrive on streams that follow the device, for operators and above */
  'POST /api/devices/:tenant/:device/log': 'operator',

  /** CommandRequest -> JobAnswer. The command may require a higher role (Registry): 403 `role`. */
  'POST /api/commands': 'operator',
  /** -> {"jobs": Job[]}: newest first, 100 at most */
  'GET /api/jobs': 'viewer',
  /** `?state=&first=&last=` -> JobDetail */
  'GET /api/jobs/:id': 'viewer',
  /** {} -> JobAnswer: sends no further commands */
  'POST /api/jobs/:id/stop': 'operator',

  /** ConfigChange -> ConfigAnswer; 409 `changed` after another person's change, 400 `invalid` with `faults` */
  'POST /api/config': 'administrator',
  /** -> GroupConfig */
  'GET /api/groups/:tenant/:group/config': 'viewer',

  /** `?from=2026-11-01&to=2026-11-30&by=day|device|group|language` -> Conversations */
  'GET /api/conversations': 'viewer',
  /** `?month=2026-11&by=device|group|site` -> Cost */
  'GET /api/cost': 'viewer',
  /** the same as CSV, as a download */
  'GET /api/cost.csv': 'viewer',

  /** -> {"people": Person[]} */
  'GET /api/people': 'administrator',
  /** NewPerson -> Person; 409 `exists` */
  'POST /api/people': 'administrator',
  /** PersonChange -> Person; ends the person's sessions. 409 `last_administrator` */
  'POST /api/people/:name': 'administrator',
  /** {} -> Person: lifts the lock after too many wrong passwords */
  'POST /api/people/:name/unlock': 'administrator',
  /** {} -> {}; 409 `last_administrator` */
  'POST /api/people/:name/remove': 'administrator',
  /** `?who=&what=&device=&from=&to=&before=` -> AuditPage */
  'GET /api/audit': 'administrator',
} as const satisfies Readonly<Record<`${'GET' | 'POST'} /api/${string}`, RouteAccess>>;
export type ConsoleRoute = keyof typeof CONSOLE_ROUTES;

/** Outside of `/api/`: `/assets/NAME` are the built files; every other path is the page itself, for deep links. */
export const ASSETS = '/assets/';

/** Whether a role includes the rights of another. */
export function includesRole(role: ConsoleRole, least: ConsoleRole): boolean {
  return CONSOLE_ROLES.indexOf(role) >= CONSOLE_ROLES.indexOf(least);
}

/** What failed, and what to do: `message` is a sentence for people. */
export interface ConsoleProblem {
  readonly code: ConsoleProblemCode;
  readonly message: string;
  /** For `invalid`: each wrong value by its JSON pointer (`/lanes/0/volume`). */
  readonly faults?: readonly ConsoleFault[];
  readonly retryAfterS?: number;
}
export interface ConsoleFault {
  readonly pointer: string;
  readonly message: string;
}
export type ConsoleProblemCode =
  | 'signed_out'
  | 'wrong'
  | 'role'
  | 'foreign'
  | 'host'
  | 'invalid'
  | 'not_found'
  | 'method'
  | 'too_large'
  | 'too_often'
  | 'exists'
  | 'changed'
  | 'last_administrator'
  | 'too_many'
  | 'broker_away'
  | 'store_away'
  | 'internal';
