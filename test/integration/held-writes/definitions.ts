// SPDX-License-Identifier: Apache-2.0
import { HTTP_ROUTE_CRD } from '../acme-solving/http-route-crd.ts';

/** HTTPRoutes of any fields: what a policy refuses must not be pruned before it. */
export const HTTP_ROUTES = {
  ...HTTP_ROUTE_CRD,
  spec: {
    ...HTTP_ROUTE_CRD.spec,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};
