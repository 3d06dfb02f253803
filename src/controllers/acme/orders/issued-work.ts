// SPDX-License-Identifier: Apache-2.0
import { revokeIssued } from '../../../acme-issuing/index.ts';
import {
  heldRevocation,
  nextRevocationStep,
  revocationRecordOf,
  revocationStatusOf,
} from '../../../acme-orders/index.ts';
import type { RevocationBefore, RevocationRecord } from '../../../acme-orders/revocation.ts';
import { ORDERS, REVOKE_ANNOTATION, type Order } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Certificate } from '../../../pki/x509/certificate.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { eventOfRevocation } from '../store/events.ts';
import type { Term } from '../store/term.ts';
import { isNews, writeStatus } from '../store/write-status.ts';

const PATHS = resource(ORDERS);

/** What is done for the certificate of an Order after it was issued. */
export class IssuedWork {
  readonly #context: AcmeContext;
  readonly #term: Term;
  readonly #leaf: Certificate;
  #order: Order;

  constructor(context: AcmeContext, term: Term, order: Order, leaf: Certificate) {
    this.#context = context;
    this.#term = term;
    this.#order = order;
    this.#leaf = leaf;
  }

  /** Has it revoked where that is asked for. */
  async revoke(): Promise<ReconcileResult> {
    const { metadata, status } = this.#order;
    const record = status.revocation && revocationRecordOf(status.revocation);
    const wish = metadata.annotations?.[REVOKE_ANNOTATION];
    const { notAfter } = this.#leaf;
    const step = nextRevocationStep({ record, wish, notAfter }, this.#now());
    if (step.step === 'wait') return this.#at(step.until);
    const after =
      step.step === 'note' ? step.record : await this.#ask({ record, asked: step.asked });
    await this.#write(after);
    return after?.state === 'pending' && after.nextAttemptAt !== undefined
      ? this.#at(after.nextAttemptAt)
      : undefined;
  }

  /** A lost answer, or a status that could not be written, is asked for again: the CA then says that it is revoked. */
  async #ask(of: Pick<RevocationBefore, 'record' | 'asked'>): Promise<RevocationRecord> {
    const { metadata, spec } = this.#order;
    const signer = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
    const right = callRight(this.#context, this.#term, signer, this.#now());
    if ('heldBack' in right) return heldRevocation(of, right.heldBack);
    const now = (): number => this.#now();
    const before: RevocationBefore = {
      ...{ ...of, uid: metadata.uid },
      get now() {
        return now();
      },
    };
    return revokeIssued(right.session, this.#leaf, before);
  }

  async #write(record: RevocationRecord | undefined): Promise<void> {
    const { component, orders } = this.#context;
    const before = this.#order;
    const { revocation: earlier, ...rest } = before.status;
    const status =
      record === undefined ? rest : { ...rest, revocation: revocationStatusOf(record) };
    if (!isNews(before.status, status)) return;
    this.#order = await writeStatus(component, PATHS, { ...before, status });
    orders.applyWrite(this.#order);
    const event = eventOfRevocation(this.#order, earlier);
    if (event !== undefined) component.events.record(event);
    const { state, reason } = record ?? { state: 'none', reason: undefined };
    component.log.info({ order: keyOf(before.metadata), state, reason }, 'revocation changed');
  }

  #now(): number {
    return serverTime(this.#context.component);
  }

  #at(until: number): ReconcileResult {
    return requeueAt(this.#context.component, until);
  }
}
