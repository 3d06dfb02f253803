// SPDX-License-Identifier: Apache-2.0
import type { SignerError } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { LedgerRecord } from '../../ledger/records/record.ts';
import type { LedgerSender } from '../../ledger/sender/contract.ts';

/** What a {@link LeafRecord} is made of. */
export interface LeafRecordInit {
  readonly before: LedgerSender;
  readonly after: LedgerSender;
  readonly record: Extract<LedgerRecord, { readonly kind: 'issued' }>;
  readonly now: () => string;
}

type Outcome = Extract<LedgerRecord, { readonly kind: 'result' }>['outcome'];

/** Answers of the API server that say that it does not take this certificate. */
const REFUSALS: readonly number[] = [400, 403, 422];

/** The record of one signed leaf, and what became of the leaf. */
export class LeafRecord {
  readonly #init: LeafRecordInit;
  #isKept = false;
  /** Whether the ledger may have it: an answer can be lost. */
  #isSent = false;
  #isRefused = false;
  #isEnded = false;

  constructor(init: LeafRecordInit) {
    this.#init = init;
  }

  /**
   * Appends it, once: before each delivery.
   *
   * @throws SignerError LEDGER_UNAVAILABLE in the mode `required` while the ledger is away
   */
  async append(): Promise<void> {
    if (this.#isKept) return;
    this.#isSent = true;
    await this.#init.before.append(this.#init.record);
    this.#isKept = true;
  }

  /** Whether the ledger may have the leaf, and has nothing of what became of it. */
  get isOpen(): boolean {
    return this.#isSent && !this.#isEnded;
  }

  delivered(): void {
    this.#ended('delivered');
    this.#isEnded = true;
  }

  /** The API server has answered a write of it with an error; many of these only delay it. */
  failed(error: unknown): void {
    if (!(error instanceof KubeError) || !REFUSALS.includes(error.status)) return;
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#ended('refused', error);
  }

  /** It will not be delivered. */
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
      ...{ kind: 'result', key: `${of}/${outcome}`, at: now(), component, of, outcome },
      ...why,
    });
  }
}
