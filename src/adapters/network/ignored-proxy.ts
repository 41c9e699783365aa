const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'] as const;

/**
 * The name of a variable that sets a proxy; null: none is set. All our connections are direct: MQTT passes through few proxies,
 * and speech should pass through none. The value may hold a password, so it is never shown.
 */
export function ignoredProxy(env: Readonly<Record<string, string | undefined>>): string | null {
  return NAMES.find((name) => (env[name] ?? '') !== '') ?? null;
}
