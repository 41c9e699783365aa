import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ScreenLane } from '../../protocol/screen.ts';
import { Bar, FarBar } from './bar.tsx';
import { Panel } from './panel.tsx';
import { layoutFor, letterPx } from './sizes.ts';
import { screen } from './store.ts';

/** Timeout for the agent's first answer (ms); then the page reports that the agent does not answer. */
const FIRST_ANSWER_MS = 2000;
/** Placeholder until the agent has answered. */
const UNKNOWN_LANE: ScreenLane = {
  id: '',
  source: 'en',
  targets: [],
  offer: [],
  visitor: 'en',
  typing: [],
  turn: null,
  volume: 100,
};

/** The whole screen, in one of three layouts. */
export function Kiosk() {
  const size = useSignal({ width: innerWidth, height: innerHeight });
  const isLate = useSignal(false);
  useEffect(() => {
    const measure = () => {
      size.value = { width: innerWidth, height: innerHeight };
    };
    addEventListener('resize', measure);
    const timer = setTimeout(() => {
      isLate.value = true;
    }, FIRST_ANSWER_MS);
    return () => {
      removeEventListener('resize', measure);
      clearTimeout(timer);
    };
  }, []);
  if (screen.value === null && !isLate.value) return <main />;
  const {
    layout: wanted = 'beside',
    viewingDistanceMm = 700,
    heightMm = 150,
    lanes = [],
  } = screen.value ?? {};
  const { width, height } = size.value;
  const layout = layoutFor({ layout: wanted, viewingDistanceMm, heightMm }, width, height);
  const letter = letterPx({ layout, viewingDistanceMm, heightMm }, width, height);
  const [lane = UNKNOWN_LANE] = lanes;
  const { source } = lane;
  const [target = source] = lane.targets;
  const both = [...new Set([source, target])];
  const readersFirst = [...both].reverse();
  const panel = (language: string, more: object = {}) => (
    <Panel key={language} language={language} statusIn={[language]} letterPx={letter} {...more} />
  );
  const wayFrom = (language: string) => lane.typing.filter(({ from }) => from === language);
  // Each half has the typing directions of its language; a single panel has all of them, its reader's first.
  const ways = { one: [readersFirst.flatMap(wayFrom)], beside: both.map(wayFrom), facing: [wayFrom(source)] };
  // A dialog, and the text typed in it, ends with the conversation.
  const talk = `${screen.value?.run} ${screen.value?.conversation}`;
  const bar = <Bar key={talk} lane={lane} isNear={layout === 'facing'} ways={ways[layout]} />;
  return (
    <main class={layout} style={{ '--letter': `${letter}px` }}>
      <h1>Interpreter</h1>
      {layout === 'one' && panel(target, { statusIn: readersFirst })}
      {layout === 'beside' && both.map((language) => panel(language))}
      {layout === 'facing' &&
        target !== source &&
        panel(target, { isTurned: true, children: <FarBar key={talk} lane={lane} ways={wayFrom(target)} /> })}
      {layout === 'facing' ? panel(source, { children: bar }) : bar}
    </main>
  );
}
