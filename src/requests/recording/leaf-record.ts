// SPDX-License-Identifier: Apache-2.0
import type { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import type { LedgerSender } from '#ledger/sender/contract.ts';

/** Dependencies of a {@link LeafRecord}. */
export interface LeafRecordInit {
  readonly before: LedgerSender;
  readonly after: LedgerSender;
  readonly record: Extract<LedgerRecord, { readonly kind: 'issued' }>;
  readonly now: () => string;
}

type Outcome = Extract<LedgerRecord, { readonly kind: 'result' }>['outcome'];

/** Statuses by which the API server rejects this certificate. */
const REFUSALS: readonly number[] = [400, 403, 422];

/** The record of one signed leaf, and its result. */
export class LeafRecord {
  readonly #init: LeafRecordInit;
  #isKept = false;
  /** True if the ledger may have the record, since a response can be lost. */
  #isSent = false;
  #isRefused = false;
  #isEnded = false;

  constructor(init: LeafRecordInit) {
    this.#init = init;
  }

  /**
   * Appends the record once, before the first delivery.
   *
   * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is unavailable
   */
  async append(): Promise<void> {
    if (this.#isKept) return;
    this.#isSent = true;
    await this.#init.before.append(this.#init.record);
    this.#isKept = true;
  }

  /** Reports whether the ledger has the record. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Reports whether the ledger may have the leaf without its result. */
  get isOpen(): boolean {
    return this.#isSent && !this.#isEnded;
  }

  delivered(): void {
    this.#ended('delivered');
    this.#isEnded = true;
  }

  /** Records a rejected write. Other errors only delay the delivery. */
  failed(error: unknown): void {
    if (!(error instanceof KubeError) || !REFUSALS.includes(error.status)) return;
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#ended('refused', error);
  }

  /** Records that the leaf will not be delivered. */
  abandoned(): void {
    this.#ended('abandoned');
    this.#isEnded = true;
  }

  #ended(outcome: Outcome, error?: SignerError): void {
    if (!this.isOpen) return;
    const { after, record, now } = this.#init;
    const { key: of, component } = record;
    const why = error === undefined ? {} : { reason: error.code };
    void after.append({
      kind: 'result',
      key: `${of}/${outcome}`,
      at: now(),
      component,
      of,
      outcome,
      ...why,
    });
  }
}
