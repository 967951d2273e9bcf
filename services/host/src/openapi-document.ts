import { controlOpenApi } from '@weir/control/openapi/control-openapi';
import { gatewayOpenApi } from '@weir/gateway/openapi/gateway-openapi';
import { joinOpenApi, type Schema } from '@weir/runtime/http/openapi';

/** The OpenAPI 3.1 document of Weir. Every process serves the complete document, independent of its roles. */
export function openApiDocument(collectPaths: readonly string[]): Schema {
  return joinOpenApi([gatewayOpenApi(collectPaths), controlOpenApi()]);
}
