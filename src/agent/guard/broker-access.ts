import type { Brokers } from '../../ports/brokers.ts';
import type { CertificateOffer, DeviceCertificate } from '../../ports/certificate.ts';
import { attempt, type Defects, defectOf } from './defects.ts';

/** What of a state is kept: what throws or rejects was not. */
function guardKeeping(defects: Defects) {
  return async (where: string, keep: () => Promise<string | null>): Promise<string | null> => {
    try {
      return await keep();
    } catch (error) {
      defects(where, error);
      return defectOf(error);
    }
  };
}

/** A client certificate that never throws and never rejects. */
export function guardCertificate(certificate: DeviceCertificate, defects: Defects): DeviceCertificate {
  const keeping = guardKeeping(defects);
  return {
    get present() {
      return certificate.present;
    },
    get successor() {
      return certificate.successor;
    },
    get request() {
      return certificate.request;
    },
    get isShown() {
      return certificate.isShown;
    },
    use: (which) => void attempt(defects, 'certificate.use', () => certificate.use(which)),
    draft: (id) => keeping('certificate.draft', () => certificate.draft(id)),
    async offer(pem, wall): Promise<CertificateOffer> {
      try {
        return await certificate.offer(pem, wall);
      } catch (error) {
        defects('certificate.offer', error);
        return { ok: false, code: 'not_kept', message: `cannot be kept: ${defectOf(error)}` };
      }
    },
    adopt: () => keeping('certificate.adopt', () => certificate.adopt()),
    drop: () => keeping('certificate.drop', () => certificate.drop()),
  };
}

/** Brokers that never throw and never reject; what cannot be changed stays as it is. */
export function guardBrokers(brokers: Brokers, defects: Defects): Brokers {
  const keeping = guardKeeping(defects);
  return {
    get configured() {
      return brokers.configured;
    },
    get previous() {
      return brokers.previous;
    },
    get unreadable() {
      return brokers.unreadable;
    },
    use: (which) => void attempt(defects, 'brokers.use', () => brokers.use(which)),
    change(mqtt) {
      let isOther = false;
      attempt(defects, 'brokers.change', () => {
        isOther = brokers.change(mqtt);
      });
      return isOther;
    },
    settle: () => keeping('brokers.settle', () => brokers.settle()),
  };
}
