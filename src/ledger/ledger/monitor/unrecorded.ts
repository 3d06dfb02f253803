// SPDX-License-Identifier: Apache-2.0
/**
 * Stores the monitor's findings in a ConfigMap, where they outlive the object with the certificate.
 */
import type { ConfigMap } from '#api/object/object.ts';
import type { Component } from '#component/contract.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { FINDINGS } from '../objects.ts';

/** One certificate without a record. */
export interface UnrecordedCertificate {
  /** `sha256:<hex>` of the certificate. */
  readonly fingerprint: string;
  readonly serial: string;
  /** Fingerprint of the CA whose key signed it. */
  readonly ca: string;
  /** Key of the signer's object. */
  readonly signer: string;
  /** RFC 3339, or `unreadable` if a time of the certificate is malformed. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** Place where it was first seen: `Secret team-a/web-tls`. */
  readonly seenIn: string;
  readonly seenAt: string;
  /** Explanation of the missing record. Absent if there is none. */
  readonly explanation?: string;
}

/**
 * Listed findings of each kind. An object of etcd has room for a few thousand, and a person reads
 * fewer.
 */
const MAX_UNRECORDED = 300;
/** Findings of one signer outside the list. */
const MAX_UNLISTED = 300;

const UNRECORDED = 'unrecorded-';
const EXPLAINED = 'explained-';
/**
 * Prefix of a key by which an administrator acknowledges a finding, with the reason as its value.
 */
const ACKNOWLEDGED = 'acknowledged-';

/** The findings, including those of earlier processes. */
export class UnrecordedCertificates {
  readonly #component: Pick<Component, 'client'>;
  readonly #path: string;
  /**
   * Findings without room in the list, by name. A signer has at most as many as the list, because
   * more add no information.
   */
  readonly #unlisted = new Map<string, UnrecordedCertificate>();
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

  /** Adds a finding, unless it is already there. @throws KubeError */
  async add(finding: UnrecordedCertificate): Promise<void> {
    const name = nameOf(finding);
    if (this.has(finding)) return;
    const prefix = finding.explanation === undefined ? UNRECORDED : EXPLAINED;
    const listed = this.#listed(prefix);
    const room = listed.length < MAX_UNRECORDED ? [] : this.#leastOf(listed, finding.signer);
    if (room === undefined) {
      this.#keepUnlisted(name, finding);
      return;
    }
    const { client } = this.#component;
    const removed = Object.fromEntries(room.map((each) => [each, null]));
    for (const each of room)
      for (const gone of findingIn(this.#entries[each] ?? '')) this.#keepUnlisted(each, gone);
    const written = await client.request<ConfigMap>({
      method: 'PATCH',
      path: this.#path,
      body: { data: { ...removed, [name]: JSON.stringify(finding) } },
      contentType: 'application/merge-patch+json',
    });
    this.#entries = written.data ?? {};
  }

  #keepUnlisted(name: string, finding: UnrecordedCertificate): void {
    const ofSigner = [...this.#unlisted.values()].filter(({ signer }) => signer === finding.signer);
    if (ofSigner.length < MAX_UNLISTED) this.#unlisted.set(name, finding);
  }

  /**
   * Returns the listed finding to replace, or undefined if the new one gets no place. Findings of
   * ClusterSigners take precedence. Among equals, the last of the ClusterSigner or namespace with
   * the most places is replaced, so that no team displaces those of others.
   */
  #leastOf(listed: readonly string[], signer: string): readonly string[] | undefined {
    const byOwner = Map.groupBy(listed, (name) => {
      const [found] = findingIn(this.#entries[name] ?? '');
      return ownerOf(found?.signer ?? '/');
    });
    const own = ownerOf(signer);
    const [most] = [...byOwner].toSorted(
      ([a, x], [b, y]) => Number(isTeam(b)) - Number(isTeam(a)) || y.length - x.length,
    );
    if (most === undefined) return undefined;
    const [owner, names] = most;
    const mine = byOwner.get(own)?.length ?? 0;
    const goes =
      isTeam(owner) && !isTeam(own)
        ? true
        : isTeam(owner) === isTeam(own) && names.length > mine + 1;
    return goes ? names.slice(-1) : undefined;
  }

  /** Returns the unexplained and unacknowledged findings, including those outside the list. */
  open(): readonly UnrecordedCertificate[] {
    const unlisted = [...this.#unlisted]
      .filter(([name]) => this.#entries[name] === undefined && this.#isOpen(name))
      .map(([, finding]) => finding);
    return [...this.#listedOpen(), ...unlisted];
  }

  #isOpen(name: string): boolean {
    const id = name.slice(UNRECORDED.length);
    return name.startsWith(UNRECORDED) && this.#entries[`${ACKNOWLEDGED}${id}`] === undefined;
  }

  #listedOpen(): readonly UnrecordedCertificate[] {
    return Object.entries(this.#entries).flatMap(([name, text]) =>
      this.#isOpen(name) ? findingIn(text) : [],
    );
  }

  has(finding: Pick<UnrecordedCertificate, 'fingerprint' | 'explanation'>): boolean {
    const name = nameOf(finding);
    return this.#entries[name] !== undefined || this.#unlisted.has(name);
  }

  /** Returns the explanation of a certificate that was found before. */
  explanationOf(fingerprint: string): string | undefined {
    const name = nameOf({ fingerprint, explanation: '' });
    const [listed] = findingIn(this.#entries[name] ?? '');
    return (listed ?? this.#unlisted.get(name))?.explanation;
  }

  /** Returns the explained findings, including those outside the list. */
  explained(): readonly UnrecordedCertificate[] {
    const listed = this.#listed(EXPLAINED).flatMap((name) => findingIn(this.#entries[name] ?? ''));
    const unlisted = [...this.#unlisted].filter(
      ([name]) => name.startsWith(EXPLAINED) && this.#entries[name] === undefined,
    );
    return [...listed, ...unlisted.map(([, finding]) => finding)];
  }

  /** Returns the number of unexplained, unacknowledged findings, and of explained ones. */
  counts(): { readonly open: number; readonly explained: number } {
    return { open: this.open().length, explained: this.explained().length };
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

/** Returns the name of a ClusterSigner, or the namespace of a Signer. */
function ownerOf(signer: string): string {
  const [namespace, name] = signer.split('/');
  return name === undefined ? signer : `${namespace}/`;
}

function isTeam(owner: string): boolean {
  return owner.endsWith('/');
}

const TEXTS = [
  'fingerprint',
  'serial',
  'ca',
  'signer',
  'notBefore',
  'notAfter',
  'seenIn',
  'seenAt',
] as const satisfies readonly (keyof UnrecordedCertificate)[];

function isFinding(value: unknown): value is UnrecordedCertificate {
  if (typeof value !== 'object' || value === null) return false;
  const found: Readonly<Record<string, unknown>> = { explanation: '', ...value };
  return [...TEXTS, 'explanation'].every((name) => typeof found[name] === 'string');
}

/** Parses a finding. Another program may have written it. */
function findingIn(text: string): readonly UnrecordedCertificate[] {
  try {
    const value: unknown = JSON.parse(text);
    return isFinding(value) ? [value] : [];
  } catch {
    return [];
  }
}
