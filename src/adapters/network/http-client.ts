/** One HTTP request with a deadline and a limit on the answer. Redirects are not followed: they could send a key elsewhere. */
import { type IncomingHttpHeaders, Agent as PlainAgent, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { tlsAdvice } from '../../core/network/tls-advice.ts';
import { ownLine } from '../own-line.ts';
import { systemCode, systemReason } from '../system-error.ts';
import { describeTlsCode, tlsReason } from './tls-reason.ts';

const LARGEST_ANSWER_BYTES = 4_194_304;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** There was no usable answer. The message names the problem and never contains the request. */
export class NoAnswer extends Error {
  readonly kind: 'timeout' | 'unreachable' | 'malformed';
  constructor(kind: NoAnswer['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Http {
  /** Resolves with any status. Throws `NoAnswer`. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Closes idle connections. */
  close(): void;
}

/** @param ca PEM of the authority to trust instead of the system's */
export function createHttp(ca?: Buffer): Http {
  const plain = new PlainAgent({ keepAlive: true });
  const secure = new SecureAgent({ keepAlive: true, ...(ca && { ca }) });

  const once = (request: HttpRequest): Promise<{ answer: HttpAnswer } | { stale: true }> =>
    new Promise((resolve, reject) => {
      const { method, url, body, timeoutMs } = request;
      const isSecure = url.startsWith('https:');
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const headers = { ...request.headers, ...length };
      const options = { method, headers, agent: isSecure ? secure : plain };
      let began = false;
      const sent = (isSecure ? requestSecure : requestPlain)(url, options, (response) => {
        began = true;
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on('data', (part: Buffer) => {
          parts.push(part);
          bytes += part.length;
          if (bytes > LARGEST_ANSWER_BYTES)
            sent.destroy(new NoAnswer('malformed', 'the answer is too large'));
        });
        response.on('end', () => {
          clearTimeout(deadline);
          const { statusCode = 0, headers } = response;
          resolve({ answer: { status: statusCode, headers, body: Buffer.concat(parts).toString('utf8') } });
        });
        response.on('error', fail);
      });
      const fail = (error: Error): void => {
        clearTimeout(deadline);
        // The server closed an idle connection before this request arrived.
        const isStale = sent.reusedSocket && !began && 'code' in error && error.code === 'ECONNRESET';
        if (isStale) resolve({ stale: true });
        else
          reject(
            error instanceof NoAnswer ? error : new NoAnswer('unreachable', explain(error, request.url)),
          );
      };
      const deadline = setTimeout(
        () => sent.destroy(new NoAnswer('timeout', 'no answer in time')),
        timeoutMs,
      );
      sent.on('error', fail);
      sent.end(body);
    });

  return {
    async request(request) {
      if (!/^https?:\/\//.test(request.url) || !URL.canParse(request.url)) {
        throw new NoAnswer('malformed', 'the address is not an http address');
      }
      for (;;) {
        const result = await once(request);
        if ('answer' in result) return result.answer;
      }
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

function explain(error: Error, url: string): string {
  const code = systemCode(error);
  if (code === null) return ownLine(error.message);
  const reason = tlsReason(error);
  if (reason === null)
    return code.startsWith('HPE_')
      ? ownLine(error.message)
      : `no connection to ${new URL(url).origin}: ${systemReason(error)}`;
  const advice = tlsAdvice(reason);
  return `${describeTlsCode(code, reason)}${advice === null ? '' : `: ${advice}`}`;
}
