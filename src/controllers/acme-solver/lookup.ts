// SPDX-License-Identifier: Apache-2.0
import { mayProveByHttp, type Http01Grant } from '../../acme-solving/http/grants.ts';
import type { SolverGrant } from '../../acme-solving/http/grants.ts';
import { solversRefusal } from '../../acme-solving/namespaced.ts';
import { solverOf } from '../../acme-solving/solver-of.ts';
import type { ChallengeSolver, SolverContext } from '../../acme-solving/solver.ts';
import {
  needsSolver,
  type AcmeSigner,
  type AcmeSolver,
  type Challenge,
} from '../../api/acme/index.ts';
import type { Secret } from '../../api/object/object.ts';
import { attempt, messageOf, SignerError } from '../../errors.ts';
import { quote } from '../../quote.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { Watched } from './watched.ts';
import { SECRETS } from '../../kube/resource/core-v1.ts';

/** What solvers need that is the same for all signers. */
export type SolverSurroundings = Omit<
  SolverContext,
  'ownNamespace' | 'credentialNamespace' | 'credential' | 'askNamed' | 'guard'
> & {
  /** What is called in the name of AcmeSigners. */
  readonly namespaced: Pick<SolverContext, 'http' | 'askNamed' | 'guard'>;
};

/** The solver of a Challenge, why it has none, or undefined where nothing is to be presented for it. */
export type SolverLookup = (
  challenge: Challenge,
) =>
  | { readonly solver: ChallengeSolver }
  | { readonly problem: { readonly reason: string; readonly message: string } }
  | undefined;

/**
 * @param clusterCredentials - namespace of the credentials of AcmeClusterSigners
 * @param ownNamespace - where routes are made: that of the components
 */
export function createLookup(init: {
  readonly component: Component;
  readonly watched: Watched;
  readonly surroundings: SolverSurroundings;
  readonly http01Grants: readonly Http01Grant[];
  readonly solverGrants: readonly SolverGrant[];
  readonly clusterCredentials: string;
  readonly ownNamespace: string;
}): SolverLookup {
  const { component, watched, surroundings, http01Grants, ownNamespace } = init;

  function contextOf({ metadata }: AcmeSigner): SolverContext {
    const namespace = metadata.namespace ?? init.clusterCredentials;
    const credential = (secret: string, key: string): Promise<Buffer> =>
      credentialOf(component, { namespace, name: secret }, key);
    const own = { ownNamespace, credentialNamespace: namespace, credential };
    const { client, clock, delay, ask, resolvers, http } = surroundings;
    const isOfCluster = metadata.namespace === undefined;
    const named = isOfCluster ? { http, askNamed: ask } : surroundings.namespaced;
    return { client, clock, delay, ask, resolvers, ...named, ...own };
  }

  return (challenge) => {
    const signer = attempt(() => watched.signerOf(challenge));
    if (signer instanceof SignerError) return problem('SignerInvalid', messageOf(signer));
    const { signerRef, solver: name, type } = challenge.spec;
    const settings = signer?.spec.acme.solvers.find((each) => each.name === name);
    if (signer === undefined || settings === undefined) {
      const what = signer === undefined ? 'does not exist' : `has no solver ${quote(name)}`;
      return problem(
        'SolverNotFound',
        `${signerRef.kind} ${signerRef.name} ${what}; delete the Order to have another Challenge made`,
      );
    }
    if (type === 'http-01' && !mayProveByHttp(challenge, http01Grants)) {
      return problem('NameNotGranted', notGranted(challenge));
    }
    const refusal = solversRefusal(signer, init.solverGrants);
    if (refusal !== undefined) return problem('SolverNotAllowed', refusal);
    if (!needsSolver(settings)) return undefined;
    return found(settings, contextOf(signer));
  };
}

function found(settings: AcmeSolver, context: SolverContext): ReturnType<SolverLookup> {
  const solver = solverOf(settings, context);
  if (solver !== undefined) return { solver };
  return problem('SolverNotSupported', `this version has no solver for ${quote(settings.name)}`);
}

function problem(reason: string, message: string): ReturnType<SolverLookup> {
  return { problem: { reason, message } };
}

function notGranted({ metadata: { namespace = '' }, spec: { dnsName } }: Challenge): string {
  return `AcmeSigners of namespace ${namespace} may not prove ${quote(dnsName)} by HTTP-01; an administrator grants it by --http01-zone ${namespace}=${dnsName} of acme-solver and acme-responder`;
}

/** @throws SignerError where it cannot be read, or has no such key */
async function credentialOf(
  { client }: Component,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  key: string,
): Promise<Buffer> {
  const where = `Secret ${namespace}/${name}`;
  const { data } = await client
    .request<Secret>({ method: 'GET', path: SECRETS.object({ namespace, name }) })
    .catch((cause: unknown) => {
      const message = `${where} cannot be read: ${messageOf(cause)}; name it in the installation (countersign rbac --solver-secret ${namespace}/${name})`;
      throw new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message, cause });
    });
  const value = data?.[key];
  if (value === undefined || value === '') {
    const message = `${where} has no key ${quote(key)}`;
    throw new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message });
  }
  return Buffer.from(value, 'base64');
}
