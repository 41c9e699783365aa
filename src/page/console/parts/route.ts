import { signal } from '@preact/signals';

/** The viewer's location: the address is the state. */
export interface Route {
  /** `/device/museum/kiosk-01/events` */
  readonly path: string;
  readonly query: URLSearchParams;
}

export const route = signal<Route>(here());

function here(): Route {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function beginRoutes(): void {
  addEventListener('popstate', () => {
    route.value = here();
  });
  addEventListener('click', (event) => {
    const { target, button } = event;
    if (event.defaultPrevented || button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = target instanceof Element ? target.closest('a') : null;
    if (
      link === null ||
      link.origin !== location.origin ||
      link.hasAttribute('download') ||
      link.target !== ''
    )
      return;
    if (link.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    go(link.href);
  });
}

export function go(address: string): void {
  history.pushState(null, '', address);
  route.value = here();
}

/** Changes query parameters without a history entry; an empty value removes its parameter. */
export function setQuery(parts: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(route.value.query);
  for (const [name, value] of Object.entries(parts)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, '', text === '' ? route.value.path : `${route.value.path}?${text}`);
  route.value = here();
}

export const queryValue = (name: string): string => route.value.query.get(name) ?? '';

/** The path's parts after the first one: `/device/museum/kiosk-01` has `museum` and `kiosk-01`. */
export function pathParts(): readonly string[] {
  return route.value.path.split('/').slice(1).map(decode);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
