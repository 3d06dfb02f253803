// SPDX-License-Identifier: Apache-2.0
import type { OWN_TLS_COMPONENTS } from '../api/signer/own-tls.ts';
import { acme } from './components/acme.ts';
import { acmeResponder } from './components/acme-responder.ts';
import { acmeSolver } from './components/acme-solver.ts';
import { approver } from './components/approver.ts';
import { attester } from './components/attester.ts';
import { authority } from './components/authority.ts';
import { bundleEndpoint } from './components/bundle-endpoint.ts';
import { certificateRequest } from './components/certificate-request.ts';
import { federation } from './components/federation.ts';
import { ledger } from './components/ledger.ts';
import type { ComponentDescription } from './components/description.ts';
import { notifier } from './components/notifier.ts';
import { podRefresher } from './components/pod-refresher.ts';
import { pcrIssuer } from './components/pcr-issuer.ts';
import { signer } from './components/signer.ts';
import { trustDistributor } from './components/trust-distributor.ts';

/** A component that an installation consists of, by its subcommand. */
export type ComponentName = (typeof OWN_TLS_COMPONENTS)[number];

/**
 * Every component of an installation. One more is one file in components/ and one line here; one that has an
 * HTTPS port, as all have, is also listed in `OWN_TLS_COMPONENTS`, which the compiler demands.
 */
const TABLE: Readonly<Record<ComponentName, ComponentDescription>> = {
  approver,
  signer,
  'pcr-issuer': pcrIssuer,
  'certificate-request': certificateRequest,
  attester,
  authority,
  acme,
  'acme-responder': acmeResponder,
  'acme-solver': acmeSolver,
  'pod-refresher': podRefresher,
  ledger,
  'trust-distributor': trustDistributor,
  'bundle-endpoint': bundleEndpoint,
  federation,
  notifier,
};

/** The table in its order. */
export const COMPONENTS: ReadonlyMap<ComponentName, ComponentDescription> = new Map(
  Object.entries(TABLE) as [ComponentName, ComponentDescription][],
);
