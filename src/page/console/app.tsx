import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Me } from '../../protocol/console-owner.ts';
import { Audit } from './audit.tsx';
import { ConsoleError, get, isSessionOver, me, whyFailed } from './client/api.ts';
import { beginStream } from './client/stream.ts';
import { ConversationsPage } from './conversations.tsx';
import { CostPage } from './cost.tsx';
import { Device } from './device/device.tsx';
import { Fleet } from './fleet/fleet.tsx';
import { Group } from './group.tsx';
import { Jobs } from './jobs.tsx';
import { MyAccount } from './my-account.tsx';
import { Fault } from './parts/fetched.tsx';
import { pathParts } from './parts/route.ts';
import { People } from './people.tsx';
import { SignIn, SignInAgain } from './sign-in.tsx';
import { language, t } from './texts/text.ts';
import { Banner, Top } from './top.tsx';

/** Interval of attempts to learn who is signed in (ms), while the backend does not answer. */
const AGAIN_MS = 3000;

const PAGES = {
  '': Fleet,
  device: Device,
  group: Group,
  jobs: Jobs,
  conversations: ConversationsPage,
  cost: CostPage,
  people: People,
  audit: Audit,
  me: MyAccount,
};

export function App() {
  const fault = useSignal<string | null>(null);
  useEffect(() => {
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        me.value = await get<Me>('/api/me');
        fault.value = null;
      } catch (error) {
        if (error instanceof ConsoleError && error.code === 'signed_out') return;
        fault.value = whyFailed(error);
        timer = window.setTimeout(() => void ask(), AGAIN_MS);
      }
    };
    void ask();
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    document.title = t('title');
  }, [language.value]);
  if (me.value === undefined) {
    return (
      <main id="main" class="column">
        {fault.value === null ? <p class="empty">{t('loading')}</p> : <Fault text={fault.value} />}
      </main>
    );
  }
  return me.value === null ? <SignIn /> : <SignedIn key={me.value.name} />;
}

function SignedIn() {
  const isOver = isSessionOver.value;
  useEffect(() => (isOver ? undefined : beginStream()), [isOver]);
  const [first = '', ...rest] = pathParts();
  const page = [first, rest[0], rest[1]].join('/');
  const shown = useRef(page);
  useEffect(() => {
    // A screen reader and the keyboard continue at the new page.
    if (page !== shown.current) document.getElementById('main')?.focus();
    shown.current = page;
  }, [page]);
  const Page = Object.hasOwn(PAGES, first) ? PAGES[first as keyof typeof PAGES] : Missing;
  return (
    <>
      <a class="skip" href="#main">
        {t('skip')}
      </a>
      <Top />
      <Banner />
      <Page />
      {isOver && <SignInAgain />}
    </>
  );
}

function Missing() {
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('not_found')}</h1>
      <p>
        <a href="/">{t('fleet')}</a>
      </p>
    </main>
  );
}
