// A backend of your own: hears token requests, makes a session at the service for each, and answers.
// docs/backend.md tells how to run it, and what dragoman-backend does beyond it.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connectAsync } from 'mqtt';

const { BROKER = 'mqtt://127.0.0.1:1883', MQTT_VERSION = 5, PREFIX = 'dragoman/v1' } = process.env;
const { SERVICE_URL = 'http://127.0.0.1:8080', API_KEY = 'emulator-api-key', SIGNING_KEY_FILE } = process.env;
const STREAM_PATH = '/streaming-api/{random_hash}/v1/speech-to-speech/stream';
const { STREAM_URL: stream_url = SERVICE_URL.replace('http', 'ws') + STREAM_PATH } = process.env;
const { DEVICES = 'museum/kiosk-01' } = process.env;
const signingKey = SIGNING_KEY_FILE && createPrivateKey(readFileSync(SIGNING_KEY_FILE));

/** A session that opens one stream, within a minute, for half an hour at most. */
async function createSession(reference, { intent, connection_type }) {
  const terms = { expires_in_seconds: 60, max_session_duration_seconds: 1800, single_use: true };
  const response = await fetch(`${SERVICE_URL}/session-storage/v2/sessions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ intent, connection_type, ...terms, client_reference_id: reference }),
  });
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.errors?.[0]?.title ?? `HTTP ${response.status}`);
  return answer.data;
}

function deny(code, title, detail, final) {
  return { ok: false, error: { code, title, detail, final, retry_after_s: 10 } };
}

/** @param device `{tenant}/{device}` */
async function answerTo(device, request) {
  if (!DEVICES.split(',').includes(device)) return deny('unknown_device', 'Unknown device', device, true);
  // A device in standby asks whether anybody is there: no session is made for that.
  if (request.probe === 'backend') return { ok: true, probe: { session: 'none' }, stream_url };
  try {
    const session = await createSession(`${device}/${request.lane}`, request);
    // A trial of the whole way gets no token; its session expires unused.
    return request.probe
      ? { ok: true, probe: { session: 'expires' }, stream_url }
      : { ok: true, session, stream_url };
  } catch (error) {
    return deny('service_refused', 'The service made no session', String(error.message), false);
  }
}

/** Signs an answer, so that nobody else who may publish it is believed. */
function seal(device, body) {
  const { crv, kty, x } = createPublicKey(signingKey).export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
  const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const content = { ...body, device, iat: Math.floor(Date.now() / 1000) };
  const signed = `${encode({ alg: 'EdDSA', kid, typ: 'dragoman+token' })}.${encode(content)}`;
  return {
    id: body.id,
    jws: `${signed}.${sign(null, Buffer.from(signed), signingKey).toString('base64url')}`,
  };
}

/** A device that has missed an answer asks again under the same id: it gets the same one, not a second session. */
const given = new Map();

async function hear(topic, payload) {
  // Who asks is told by the topic alone: what a payload claims counts for nothing.
  const base = topic.slice(0, -'/token/req'.length);
  const device = base.slice(PREFIX.length + 1);
  const request = JSON.parse(payload);
  const key = `${device}/${request.id}`;
  if (!given.has(key)) given.set(key, answerTo(device, request));
  setTimeout(() => given.delete(key), 60_000).unref();
  const body = { id: request.id, ...(await given.get(key)) };
  const options = { qos: 0, properties: { messageExpiryInterval: 30 } };
  client.publish(`${base}/token/res`, JSON.stringify(signingKey ? seal(base, body) : body), options);
}

const client = await connectAsync(BROKER, { protocolVersion: +MQTT_VERSION });
client.on('message', (topic, payload) => hear(topic, payload).catch((error) => process.emitWarning(error)));
await client.subscribeAsync(`${PREFIX}/+/+/token/req`, { qos: 1 });
process.stdout.write('listening for token requests\n');
