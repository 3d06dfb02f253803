// SPDX-License-Identifier: Apache-2.0
/**
 * Who certified whose key, read from every Secret that was ever written: what a thief has
 * collected.
 */
import type { KubeObject, Secret } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import type { World } from './world.ts';

/** A cross-certificate that was written once, and so may be in anybody's hands. */
export interface SentCross {
  readonly certificate: Certificate;
  /** Fingerprints. */
  readonly issuer: string;
  readonly subject: string;
}

/** Knows nothing of what the components remember: it reads the Secrets as they are written. */
export class CrossRecord {
  readonly #sent = new Map<string, SentCross>();

  constructor(world: World) {
    world.onChange(({ kind, object }) => {
      if (kind === 'secret') this.#read(object);
    });
  }

  get all(): readonly SentCross[] {
    return [...this.#sent.values()];
  }

  /** Whether this CA certified the key of one of these. */
  hasCertified(issuer: string, subjects: ReadonlySet<string>): boolean {
    return this.all.some((each) => each.issuer === issuer && subjects.has(each.subject));
  }

  #read(object: KubeObject | undefined): void {
    const { cross = '', certificate } = materialOf((object ?? { metadata: {} }) as Secret);
    const found = attempt(() => [...readAnchors(cross), ...readAnchors(certificate)]);
    if (cross === '' || found instanceof SignerError) return;
    const [sent, issuer, subject] = found;
    if (sent === undefined || issuer === undefined || subject === undefined) return;
    this.#sent.set(fingerprint(sent.raw), {
      certificate: sent,
      issuer: fingerprint(issuer.raw),
      subject: fingerprint(subject.raw),
    });
  }
}
