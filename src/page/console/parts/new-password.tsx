import { t } from '../texts/text.ts';

/** A form field named `password`. */
export function NewPassword({ id }: { readonly id: string }) {
  return (
    <div class="field">
      <label for={id}>{t('new_password')}</label>
      <input id={id} name="password" type="password" autocomplete="new-password" minLength={12} required />
    </div>
  );
}
