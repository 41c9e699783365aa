import { useEffect } from 'preact/hooks';
import { includesRole } from '../../protocol/console-routes.ts';
import { me, post, signedOut } from './client/api.ts';
import { broker, connection } from './client/stream.ts';
import { route } from './parts/route.ts';
import { Name } from './parts/words.tsx';
import { chooseLanguage, LANGUAGES, type Language, language, type TextKey, t } from './texts/text.ts';

const PAGES: readonly { readonly path: string; readonly name: TextKey; readonly isForAll: boolean }[] = [
  { path: '/', name: 'fleet', isForAll: true },
  { path: '/jobs', name: 'jobs', isForAll: true },
  { path: '/conversations', name: 'conversations', isForAll: true },
  { path: '/cost', name: 'cost', isForAll: true },
  { path: '/people', name: 'people', isForAll: false },
  { path: '/audit', name: 'audit', isForAll: false },
];

export function Top() {
  const { path } = route.value;
  useEffect(() => {
    // On a phone the navigation is wider than the screen.
    document.querySelector('header [aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }, [path]);
  const isAdministrator = me.value ? includesRole(me.value.role, 'administrator') : false;
  const isHere = (page: string): boolean =>
    page === '/' ? path === '/' || path.startsWith('/device/') : path.startsWith(page);
  return (
    <header class="top">
      <span class="brand">Dragoman</span>
      <nav aria-label={t('pages')}>
        {PAGES.filter(({ isForAll }) => isForAll || isAdministrator).map((page) => (
          <a key={page.path} href={page.path} aria-current={isHere(page.path) ? 'page' : undefined}>
            {t(page.name)}
          </a>
        ))}
      </nav>
      <Who />
    </header>
  );
}

function Who() {
  if (!me.value) return null;
  const { name, role } = me.value;
  const signOut = async (): Promise<void> => {
    try {
      await post('/api/sign-out');
    } finally {
      me.value = null;
      signedOut();
    }
  };
  return (
    <div class="who">
      <a href="/me">
        <Name text={name} />
      </a>
      <span class="quiet optional">{t(`role_${role}`)}</span>
      <LanguageChoice />
      <button type="button" class="plain" onClick={() => void signOut()}>
        {t('sign_out')}
      </button>
    </div>
  );
}

export function LanguageChoice() {
  return (
    <select
      aria-label={t('language')}
      value={language.value}
      onChange={(event) => void chooseLanguage(event.currentTarget.value as Language)}
    >
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Warns that the shown data may be stale. */
export function Banner() {
  const text = bannerText();
  return (
    <div role="status" class={text === '' ? 'unseen' : 'banner'}>
      {text}
    </div>
  );
}

function bannerText(): string {
  if (connection.value === 'gone') return t('stream_gone');
  if (broker.value === 'away') return t('broker_away');
  return connection.value === 'asking' ? t('stream_held') : '';
}
