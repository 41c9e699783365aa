import { useEffect } from 'preact/hooks';
import { act } from './link.ts';
import { screen } from './store.ts';

/** Height of the lower edge (mm): a finger finds it by feeling along the frame. */
const EDGE_MM = 10;
/** How long a finger rests on the edge to open the spoken menu, and in the open menu to choose (ms). */
const OPENS_AFTER_MS = 2000;
const CHOOSES_AFTER_MS = 1000;

/** The spoken menu by touch, at the whole lower edge: a long press opens it; then a touch is "next" and a long press "choose". */
export function useLowerEdge(lane: string, heightMm: number): void {
  useEffect(() => {
    let timer = 0;
    let isPressed = false;
    let swallowsClick = false;
    const isOn = (): boolean => screen.peek()?.menu != null;
    const send = (key: 'open' | 'next' | 'choose'): void => void act({ do: 'menu', lane, key });
    const cancel = (): void => {
      clearTimeout(timer);
      isPressed = false;
    };
    const isAtEdge = ({ clientX, clientY }: PointerEvent): boolean =>
      clientX >= 0 && clientX <= innerWidth && clientY >= innerHeight * (1 - EDGE_MM / heightMm);
    const press = (event: PointerEvent): void => {
      cancel();
      swallowsClick = false;
      // A button that is held to speak is held for longer.
      const isHeldButton = event.target instanceof Element && event.target.closest('[data-held]') !== null;
      if (!isAtEdge(event) || (isHeldButton && !isOn())) return;
      isPressed = true;
      swallowsClick = isOn();
      if (swallowsClick) event.stopPropagation();
      const key = isOn() ? 'choose' : 'open';
      timer = setTimeout(
        () => {
          isPressed = false;
          swallowsClick = true;
          send(key);
        },
        isOn() ? CHOOSES_AFTER_MS : OPENS_AFTER_MS,
      );
    };
    const move = (event: PointerEvent): void => {
      if (isPressed && !isAtEdge(event)) cancel();
    };
    const release = (): void => {
      if (isPressed && swallowsClick && isOn()) send('next');
      cancel();
    };
    /** The touch was for the menu, not for the button below the finger. */
    const swallow = (event: Event): void => {
      // A click without a finger is one of a keyboard or a screen reader.
      const isByKey = event.type === 'click' && event instanceof UIEvent && event.detail === 0;
      if (!swallowsClick || isByKey) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const listeners = [
      ['pointerdown', press],
      ['pointermove', move],
      ['pointerup', release],
      ['pointercancel', cancel],
      ['click', swallow],
      ['contextmenu', swallow],
    ] as [string, (event: Event) => void][];
    for (const [kind, listener] of listeners) addEventListener(kind, listener, true);
    return () => {
      cancel();
      for (const [kind, listener] of listeners) removeEventListener(kind, listener, true);
    };
  }, [lane, heightMm]);
}
