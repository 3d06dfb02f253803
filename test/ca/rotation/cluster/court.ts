// SPDX-License-Identifier: Apache-2.0
/**
 * What must be true of every leaf that was delivered, by three validators that know nothing of each
 * other.
 */
import {
  bundleName,
  servedSince,
  type ClusterTrustBundle,
} from '#api/object/cluster-trust-bundle.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { Openssl } from '../../../oracle/openssl.ts';
import { ACCEPTED, chainOf, openOracle, type ChainParts } from '../../../oracle/oracle.ts';
import { ourChain } from '../../../oracle/ours.ts';
import type { Delivery, Story } from './story.ts';

export interface Rules {
  /** The name of each signer's bundle. */
  readonly bundle: string;
  readonly propagationSeconds: number;
  /** profile.backdate, in milliseconds. */
  readonly backdate: number;
  /** CAs that sign as soon as they are published. */
  readonly atOnce: ReadonlySet<string>;
}

/** Signers go by the API server's whole seconds, and date leaves by their own. */
const GRAIN_MS = 2_000;

/** @returns what is wrong, in words; nothing where all is well */
export async function judge(story: Story, rules: Rules): Promise<readonly string[]> {
  const faults: string[] = [];
  const cases: { readonly delivery: Delivery; readonly parts: ChainParts }[] = [];
  for (const delivery of story.deliveries) {
    const name = bundleName(delivery.signerName, rules.bundle);
    const bundle = story.bundleAt(name, delivery.revision);
    if (bundle === undefined) {
      faults.push(`${delivery.name}: no bundle was served when it was delivered`);
      continue;
    }
    cases.push({ delivery, parts: partsOf(delivery, bundle, rules) });
    faults.push(...tooEarly(story.issuerOf(delivery.leaf), delivery, bundle, rules));
  }
  faults.push(...byUs(cases), ...(await byGo(cases)), ...(await byOpenssl(cases)));
  return faults;
}

interface Case {
  readonly delivery: Delivery;
  readonly parts: ChainParts;
}

/** The leaf at the moment when it was signed, below the anchors that were served then. */
function partsOf(delivery: Delivery, bundle: ClusterTrustBundle, { backdate }: Rules): ChainParts {
  return {
    leaf: delivery.leaf.raw,
    intermediates: delivery.intermediates.map(({ raw }) => raw),
    roots: readAnchors(bundle.spec.trustBundle).map(({ raw }) => raw),
    now: delivery.leaf.notBefore + backdate,
  };
}

/** Publish, wait, then sign: by the times that the objects hold. */
function tooEarly(
  issuer: string,
  delivery: Delivery,
  bundle: ClusterTrustBundle,
  rules: Rules,
): readonly string[] {
  const since = servedSince(bundle);
  if (since.size === 1 || rules.atOnce.has(issuer)) return [];
  const signed = delivery.leaf.notBefore + rules.backdate;
  const from = (since.get(issuer) ?? Infinity) + rules.propagationSeconds * 1000;
  return signed + GRAIN_MS >= from
    ? []
    : [`${delivery.name}: signed ${(from - signed) / 1000} s before its anchor had spread`];
}

function byUs(cases: readonly Case[]): readonly string[] {
  return cases.flatMap(({ delivery, parts }) => {
    const { level, error } = ourChain(parts);
    return level === ACCEPTED ? [] : [`${delivery.name}: we refuse it: ${error?.message ?? ''}`];
  });
}

async function byGo(cases: readonly Case[]): Promise<readonly string[]> {
  await using oracle = await openOracle();
  const answers = await Promise.all(cases.map(({ parts }) => oracle.ask('v', chainOf(parts))));
  return answers.flatMap(({ level, reason }, index) =>
    level === ACCEPTED ? [] : [`${cases[index]?.delivery.name ?? ''}: Go refuses it: ${reason}`],
  );
}

/** A process for all leaves below the same bundle. */
async function byOpenssl(cases: readonly Case[]): Promise<readonly string[]> {
  using openssl = new Openssl();
  const faults: string[] = [];
  const alike = Map.groupBy(cases, ({ parts: { intermediates, roots } }) =>
    [...intermediates, ...roots].map(fingerprint).join(),
  );
  for (const group of alike.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const accepted = await openssl.acceptedLeaves(
      group.map(({ parts }) => parts.leaf),
      { ...first.parts, now: Math.max(...group.map(({ parts }) => parts.now)) },
    );
    for (const [index, { delivery }] of group.entries()) {
      if (accepted[index] !== true) faults.push(`${delivery.name}: OpenSSL refuses it`);
    }
  }
  return faults;
}
