import { request } from 'node:https';

/** Signs in at a console with TLS. @param ca the only authority that is trusted (PEM) */
export function signInByTls(
  url: string,
  ca: string,
  body: object,
): Promise<{ status: number; cookie: string }> {
  return new Promise((resolve, reject) => {
    const { port, origin } = new URL(url);
    const headers = { origin, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, path: '/api/sign-in', method: 'POST', ca, headers };
    const asked = request(options, (response) => {
      response.resume();
      const [cookie = ''] = response.headers['set-cookie'] ?? [];
      response.on('end', () => resolve({ status: response.statusCode ?? 0, cookie }));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}
