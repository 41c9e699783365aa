import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ScreenLane } from '../../protocol/screen.ts';
import { Idle } from './idle.tsx';
import { useUsualLookAgain } from './look.tsx';
import type { Side } from './looks.ts';
import { Lost } from './lost.tsx';
import { useLowerEdge } from './lower-edge.ts';
import { Panel } from './panel.tsx';
import { letterStyle, type Sizes, sizesFor } from './sizes.ts';
import { statusNow } from './status.ts';
import { useAnyTouch } from './still-there.tsx';
import { isEmpty, screen, talkNow } from './store.ts';

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
  repeatable: [],
  volume: 100,
};

/** The whole screen: an invitation to choose a language, or the panels. */
export function Kiosk() {
  const size = useSignal({ width: innerWidth, height: innerHeight });
  const isLate = useSignal(false);
  useEffect(() => {
    const measure = () => {
      const { width, height } = size.peek();
      if (width !== innerWidth || height !== innerHeight)
        size.value = { width: innerWidth, height: innerHeight };
    };
    addEventListener('resize', measure);
    // The effect runs after the first paint, and a browser that has just begun becomes as large as the screen meanwhile.
    measure();
    const timer = setTimeout(() => {
      isLate.value = true;
    }, FIRST_ANSWER_MS);
    return () => {
      removeEventListener('resize', measure);
      clearTimeout(timer);
    };
  }, []);
  useUsualLookAgain();
  const { lanes: [{ id = '' } = UNKNOWN_LANE] = [], heightMm: edgeHeightMm = 150 } = screen.value ?? {};
  useLowerEdge(id, edgeHeightMm);
  if (screen.value === null && !isLate.value) return <main />;
  const isLost = screen.value === null;
  const {
    layout: wanted = 'beside',
    viewingDistanceMm = 700,
    heightMm = 150,
    lanes = [],
  } = screen.value ?? {};
  const { width, height } = size.value;
  const sizes = sizesFor({ layout: wanted, viewingDistanceMm, heightMm }, width, height);
  const [lane = UNKNOWN_LANE] = lanes;
  const style = { ...letterStyle(sizes), '--choice': `${sizes.target}px` };
  return (
    <main class={sizes.layout} style={style}>
      <h1>Interpreter</h1>
      {isLost ? (
        <Lost />
      ) : isInvitation(lane) ? (
        <Idle lane={lane} sizes={sizes} />
      ) : (
        <Panels lane={lane} sizes={sizes} />
      )}
    </main>
  );
}

/** Whether visitors choose a language first: nothing is said, and nobody has begun a conversation. */
function isInvitation({ offer }: ScreenLane): boolean {
  const { kind } = statusNow();
  const isFree = kind === 'listening' || kind === 'standby' || kind === 'muted';
  return offer.length > 1 && isFree && isEmpty.value && screen.value?.isTalking === false;
}

/** The panels of both languages. */
function Panels({ lane, sizes }: { lane: ScreenLane; sizes: Sizes }) {
  useAnyTouch(lane.id);
  const { layout } = sizes;
  const { source, typing } = lane;
  const [target = source] = lane.targets;
  // A dialog, and the text typed in it, ends with the conversation.
  const talk = talkNow();
  const wayFrom = (language: string) => typing.filter(({ from }) => from === language);
  const panel = (speaker: Side, isTurned = false) => {
    const language = speaker === 'source' ? source : target;
    return (
      <Panel
        key={`${talk} ${language}`}
        lane={lane}
        language={language}
        speakers={[speaker]}
        statusIn={[language]}
        ways={wayFrom(language)}
        sizes={sizes}
        isTurned={isTurned}
      />
    );
  };
  if (layout === 'one') {
    const readersFirst = [...new Set([target, source])];
    return (
      <Panel
        key={`${talk} ${target}`}
        lane={lane}
        language={target}
        speakers={target === source ? ['source'] : ['target', 'source']}
        statusIn={readersFirst}
        ways={readersFirst.flatMap(wayFrom)}
        sizes={sizes}
      />
    );
  }
  if (target === source) return panel('source');
  if (layout === 'facing') return [panel('target', true), panel('source')];
  return [panel('source'), panel('target')];
}
