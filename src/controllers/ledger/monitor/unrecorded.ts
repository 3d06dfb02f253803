// SPDX-License-Identifier: Apache-2.0
/** What the monitor has found, in a ConfigMap: it stays when the object that had the certificate is gone. */
import type { ConfigMap } from '../../../api/object/object.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { CONFIG_MAPS } from '../../../kube/resource/core-v1.ts';

/** The ConfigMap's name, in the namespace of the components; the manifests make it empty. */
export const FINDINGS = 'countersign-ledger-findings';

/** One certificate without a record. */
export interface UnrecordedCertificate {
  /** `sha256:<hex>` of the certificate. */
  readonly fingerprint: string;
  readonly serial: string;
  /** Fingerprint of the CA whose key signed it. */
  readonly ca: string;
  /** Key of the signer's object. */
  readonly signer: string;
  /** RFC 3339. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** Where it was seen first: `Secret team-a/web-tls`. */
  readonly seenIn: string;
  readonly seenAt: string;
  /** Why it may have no record; absent: nothing explains it. */
  readonly explanation?: string;
}

/** Listed of each kind: an object of etcd has room for a few thousand, and a person reads fewer. */
const MOST_LISTED = 300;

const UNRECORDED = 'unrecorded-';
const EXPLAINED = 'explained-';
/** Whoever has looked at a finding adds this key, with the reason as its value. */
const ACKNOWLEDGED = 'acknowledged-';

/** UnrecordedCertificates, those of earlier processes included. */
export class UnrecordedCertificates {
  readonly #component: Pick<Component, 'client'>;
  readonly #path: string;
  /** Those that the list has no room for: they are counted. */
  readonly #unlisted = new Set<string>();
  #entries: Readonly<Record<string, string>> = {};

  constructor(component: Pick<Component, 'client'>, namespace: string) {
    this.#component = component;
    this.#path = CONFIG_MAPS.object({ namespace, name: FINDINGS });
  }

  /** @throws KubeError */
  async read(): Promise<void> {
    const { client } = this.#component;
    this.#entries =
      (await client.request<ConfigMap>({ method: 'GET', path: this.#path })).data ?? {};
  }

  /** Adds one; nothing changes if it is there already. @throws KubeError */
  async add(finding: UnrecordedCertificate): Promise<void> {
    const name = nameOf(finding);
    if (this.has(finding)) return;
    const prefix = finding.explanation === undefined ? UNRECORDED : EXPLAINED;
    if (this.#listed(prefix).length >= MOST_LISTED) {
      this.#unlisted.add(name);
      return;
    }
    const { client } = this.#component;
    const written = await client.request<ConfigMap>({
      method: 'PATCH',
      path: this.#path,
      body: { data: { [name]: JSON.stringify(finding) } },
      contentType: 'application/merge-patch+json',
    });
    this.#entries = written.data ?? {};
  }

  /** Unexplained ones that nobody has acknowledged. */
  open(): readonly UnrecordedCertificate[] {
    return Object.entries(this.#entries).flatMap(([name, text]) => {
      const id = name.slice(UNRECORDED.length);
      const isOpen =
        name.startsWith(UNRECORDED) && this.#entries[`${ACKNOWLEDGED}${id}`] === undefined;
      return isOpen ? findingIn(text) : [];
    });
  }

  has(finding: Pick<UnrecordedCertificate, 'fingerprint' | 'explanation'>): boolean {
    const name = nameOf(finding);
    return this.#entries[name] !== undefined || this.#unlisted.has(name);
  }

  /** How many there are: unexplained ones that nobody has acknowledged, and explained ones. */
  counts(): { readonly open: number; readonly explained: number } {
    const unlisted = (prefix: string): number =>
      [...this.#unlisted].filter((name) => name.startsWith(prefix)).length;
    return {
      open: this.open().length + unlisted(UNRECORDED),
      explained: this.#listed(EXPLAINED).length + unlisted(EXPLAINED),
    };
  }

  #listed(prefix: string): readonly string[] {
    return Object.keys(this.#entries).filter((name) => name.startsWith(prefix));
  }
}

function nameOf({
  fingerprint,
  explanation,
}: Pick<UnrecordedCertificate, 'fingerprint' | 'explanation'>): string {
  const id = fingerprint.slice('sha256:'.length, 'sha256:'.length + 32);
  return `${explanation === undefined ? UNRECORDED : EXPLAINED}${id}`;
}

/** Somebody else may have written it. */
function findingIn(text: string): readonly UnrecordedCertificate[] {
  try {
    const value = JSON.parse(text) as Partial<UnrecordedCertificate> | null;
    const { fingerprint, signer } = value ?? {};
    return typeof fingerprint === 'string' && typeof signer === 'string'
      ? [value as UnrecordedCertificate]
      : [];
  } catch {
    return [];
  }
}
