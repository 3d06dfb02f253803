// SPDX-License-Identifier: Apache-2.0
import { renewalId } from '../../../acme/index.ts';
import { askRenewal } from '../../../acme-issuing/index.ts';
import {
  afterRenewalInfo,
  isOfTheServer,
  nextRenewalStep,
  overdueAt,
  renewalRecordOf,
  renewalStatusOf,
} from '../../../acme-orders/index.ts';
import type { RenewalRecord, RenewalView } from '../../../acme-orders/renewal.ts';
import { ORDERS, type Order } from '../../../api/acme/index.ts';
import { keyOf } from '../../../api/object/object.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { ReconcileResult } from '../../../kube/workqueue/run-loop.ts';
import type { Certificate } from '../../../pki/x509/certificate.ts';
import { requeueAt, serverTime } from '../../../runtime/component/server-time.ts';
import { keyOfRef } from '../../../runtime/signers/acme-signers.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { eventsOfRenewal } from '../store/events.ts';
import type { Term } from '../store/term.ts';
import { isNews, writeStatus } from '../store/write-status.ts';
import type { AccountTurns } from './account-turns.ts';
import { markCertificate } from './mark-certificate.ts';
import type { RenewalCounts } from './renewal-counts.ts';

const PATHS = resource(ORDERS);

/** What the Orders of a term share. */
export interface RenewalParts {
  readonly context: AcmeContext;
  readonly term: Term;
  readonly turns: AccountTurns;
  readonly counts: RenewalCounts;
  /** By uid: when a Certificate is looked at again, once it was due. */
  readonly lookAt: Map<string, number>;
  /** Whether Certificates of cert-manager are marked. */
  readonly marks: boolean;
}

/** Looks when the certificate of one Order is to be renewed, and says so when it is time. */
export class RenewalWork {
  readonly #parts: RenewalParts;
  readonly #leaf: Certificate;
  readonly #key: string;
  #order: Order;
  /** Until when nothing may be asked. */
  #heldUntil: number | undefined;

  constructor(parts: RenewalParts, order: Order, leaf: Certificate) {
    this.#parts = parts;
    this.#order = order;
    this.#leaf = leaf;
    this.#key = keyOf(order.metadata);
  }

  async run(isReplaced: boolean): Promise<ReconcileResult> {
    const { turns, counts, lookAt } = this.#parts;
    const { uid } = this.#order.metadata;
    const view = this.#view(isReplaced);
    const step = nextRenewalStep(view, this.#now());
    if (step.step !== 'ask') turns.drop(this.#key);
    if (step.step === 'done') {
      counts.set(uid, undefined);
      lookAt.delete(uid);
      return undefined;
    }
    if (step.step === 'wait') return requeueAt(this.#parts.context.component, step.until);
    const record = step.step === 'note' ? step.record : await this.#asked(view, step.meanwhile);
    if (record?.renewAt !== undefined) {
      const planned = { ...record, renewAt: record.renewAt };
      await this.#write({ ...planned, ...(await this.#mark(planned)) });
      this.#count(planned.renewAt);
    }
    return this.#next(record);
  }

  async #asked(
    view: RenewalView,
    meanwhile: RenewalRecord | undefined,
  ): Promise<RenewalRecord | undefined> {
    return (await this.#ask(view)) ?? meanwhile;
  }

  #view(isReplaced: boolean): RenewalView {
    const { metadata, status } = this.#order;
    const id = renewalId(this.#leaf);
    return {
      record: renewalRecordOf(status.renewal ?? {}),
      leaf: { ...this.#leaf, id: id ?? metadata.uid },
      issuedAt: status.finalAt === undefined ? this.#leaf.notBefore : Date.parse(status.finalAt),
      isReplaced,
      asks: id !== undefined && this.#asks(),
    };
  }

  #asks(): boolean {
    const { metadata, spec } = this.#order;
    const signer = this.#parts.context.signers.get(
      keyOfRef(spec.signerRef, metadata.namespace ?? ''),
    );
    return signer?.spec.acme.renewalInfo !== false;
  }

  /** Undefined while the signer cannot be called, or others of the account come first. */
  async #ask(view: RenewalView): Promise<RenewalRecord | undefined> {
    const { context, term, turns } = this.#parts;
    const { metadata, spec } = this.#order;
    const signer = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
    const right = callRight(context, term, signer, this.#now());
    if ('heldBack' in right) {
      turns.drop(this.#key);
      this.#heldUntil = right.heldBack.until;
      return undefined;
    }
    const { account } = right.session.account;
    if (!turns.take(account, this.#key, this.#now())) return undefined;
    const answer = await askRenewal(right.session, view.leaf.id);
    const failures = isOfTheServer(answer) ? turns.failuresOf(account) + 1 : 0;
    const now = this.#now();
    const record = afterRenewalInfo(view, answer, failures, now);
    turns.end(account, this.#key, now, failures > 0 ? record.checkAt : undefined);
    return record;
  }

  /** Who acts is cert-manager; where the CA suggests nothing, it knows best when. */
  async #mark(
    record: RenewalRecord & { readonly renewAt: number },
  ): Promise<Partial<RenewalRecord>> {
    const { context, lookAt, marks } = this.#parts;
    const { uid } = this.#order.metadata;
    const isMarked =
      marks &&
      this.#order.spec.requestRef.kind === 'CertificateRequest' &&
      record.window !== undefined &&
      record.renewAt <= this.#now() &&
      this.#now() >= (lookAt.get(uid) ?? 0);
    if (!isMarked) return {};
    const outcome = await markCertificate(context.component, this.#order);
    lookAt.set(uid, outcome.lookAt);
    return outcome.told ?? {};
  }

  #count(at: number): void {
    const now = this.#now();
    const late = now >= overdueAt(at, this.#leaf.notAfter) ? 'overdue' : 'due';
    const state = at > now ? 'waiting' : late;
    this.#parts.counts.set(this.#order.metadata.uid, { state, renewAt: at });
  }

  /** The next time at which something is to be done, or to be counted otherwise. */
  #next(record: RenewalRecord | undefined): ReconcileResult {
    const now = this.#now();
    const { notAfter } = this.#leaf;
    const { renewAt: at = notAfter, checkAt } = record ?? {};
    const times = [
      ...[checkAt, at, overdueAt(at, notAfter), notAfter, this.#heldUntil],
      this.#parts.lookAt.get(this.#order.metadata.uid),
    ].filter((each) => each !== undefined && each > now);
    return requeueAt(this.#parts.context.component, Math.min(...(times as number[]), notAfter));
  }

  async #write(record: RenewalRecord): Promise<void> {
    const { component, orders } = this.#parts.context;
    const before = this.#order;
    const status = { ...before.status, renewal: renewalStatusOf(record) };
    if (!isNews(before.status, status)) return;
    this.#order = await writeStatus(component, PATHS, { ...before, status });
    orders.applyWrite(this.#order);
    for (const event of eventsOfRenewal(this.#order, before.status.renewal)) {
      component.events.record(event);
      const { reason, note } = event;
      component.log.info({ order: this.#key, reason, note }, 'renewal');
    }
  }

  #now(): number {
    return serverTime(this.#parts.context.component);
  }
}
