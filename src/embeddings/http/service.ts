/** Where a service is asked, as whom and for which model, from the settings; what is missing there is named. */
import { PondError } from "../../base/errors.ts";
import { maskUrl } from "../../base/secrets.ts";
import { trimEndOf } from "../../base/text.ts";
import { apiKey } from "../api-key.ts";
import type { EmbedderOptions, EmbeddingSettings } from "../settings.ts";
import type { Service } from "./post.ts";
import { HTTP_SHAPES } from "./shapes.ts";
import type { HttpProvider, HttpShape } from "./shapes.ts";

export interface HttpSettings extends EmbeddingSettings {
  readonly provider: HttpProvider;
}

interface ServiceAndModel {
  readonly service: Service;
  readonly model: string;
  /** Of a model that pond chose. */
  readonly dimension: number | undefined;
}

export async function serviceOf(settings: HttpSettings, options: EmbedderOptions): Promise<ServiceAndModel> {
  const shape = HTTP_SHAPES[settings.provider];
  const base = addressOf(settings.url ?? shape.url);
  const { name: model, dimension } = modelOf(settings, shape);
  const key = await apiKey(settings);
  if (key === undefined && shape.needsKey && settings.url === undefined)
    throw new PondError(
      "validation_failed",
      `${shape.title} embeds with a key only, and the settings have none`,
      {
        hint: "set POND_EMBEDDINGS_API_KEY, or embeddings.api_key_file to a file that has the key",
      },
    );
  if (key !== undefined && base.protocol === "http:" && !isLoopback(base.hostname))
    throw new PondError(
      "validation_failed",
      `embeddings.url is http://${base.host}: the key would be readable on its way there`,
      { hint: "use https, an address on this machine (a tunnel), or leave the key out" },
    );
  base.pathname = `${trimEndOf(base.pathname, "/")}/${shape.path(model)}`;
  return {
    model,
    dimension,
    service: {
      url: base,
      headers: key === undefined ? {} : shape.headers(key),
      secrets: key === undefined ? [] : [key],
      label: `${model} at ${base.host}`,
      timeLimitMs: shape.timeLimitMs,
      clock: options.clock,
      random: options.random ?? Math.random,
    },
  };
}

function modelOf(settings: HttpSettings, { model, title }: HttpShape): { name: string; dimension?: number } {
  // Google writes its models as models/<name>.
  if (settings.model !== undefined) return { name: settings.model.replace(/^models\//, "") };
  if (model !== undefined && settings.url === undefined) return model;
  throw new PondError("validation_failed", `embeddings.model is not set: which model of ${title} embeds?`, {
    hint: 'name one that the service has, for example model = "nomic-embed-text"',
  });
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new PondError("validation_failed", `embeddings.url cannot be ${JSON.stringify(maskUrl(text))}`, {
      hint: "write a whole address: https://host/v1, or http://127.0.0.1:11434",
    });
  if (url.username !== "" || url.password !== "")
    throw new PondError("validation_failed", `embeddings.url has a name or password before ${url.host}`, {
      hint: "give the key as embeddings.api_key or in embeddings.api_key_file",
    });
  return url;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
