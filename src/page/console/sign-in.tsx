import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Me } from '../../protocol/console-owner.ts';
import { isSessionOver, me, post, whyFailed } from './client/api.ts';
import { Dialog } from './parts/dialog.tsx';
import { Fault } from './parts/fetched.tsx';
import { Marked } from './parts/words.tsx';
import { t } from './texts/text.ts';
import { LanguageChoice } from './top.tsx';

export function SignIn() {
  return (
    <main id="main" class="door column" tabIndex={-1}>
      <h1>{t('title')}</h1>
      <div class="sheet">
        <SignInForm />
      </div>
      <p class="hint">
        <Marked text={t('first_person')} />
      </p>
      <LanguageChoice />
    </main>
  );
}

/** A sign-in dialog over a page whose session has ended, so that nothing on the page is lost. */
export function SignInAgain() {
  return (
    <Dialog title={t('sign_in')}>
      <p>{t('session_over')}</p>
      <SignInForm name={me.value?.name ?? ''} />
    </Dialog>
  );
}

function SignInForm({ name = '' }: { readonly name?: string }) {
  const fault = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  // Focus the first empty field.
  useEffect(() => form.current?.querySelector<HTMLElement>(name === '' ? '#name' : '#password')?.focus(), []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    isBusy.value = true;
    fault.value = null;
    try {
      const body = { name: values.get('name'), password: values.get('password') };
      me.value = await post<Me>('/api/sign-in', body);
      isSessionOver.value = false;
    } catch (error) {
      fault.value = whyFailed(error);
    }
    isBusy.value = false;
  };
  return (
    <form ref={form} class="column" onSubmit={(event) => void submit(event)}>
      <Fault text={fault.value} />
      <div class="field">
        <label for="name">{t('user')}</label>
        <input
          id="name"
          name="name"
          defaultValue={name}
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
        />
      </div>
      <div class="field">
        <label for="password">{t('password')}</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
      </div>
      <button type="submit" class="first" disabled={isBusy.value}>
        {t('sign_in')}
      </button>
    </form>
  );
}
