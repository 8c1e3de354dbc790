// Rows exactly as specification §3 names them. Type aliases, not interfaces: the query builder's
// generics need an index signature, which interfaces lack.

import type { SiteTexts } from "@/lib/boot";
import type { MediaInfo } from "@/lib/media";

/** The computed column of the files' facts; it comes only when it is asked for. */
type WithMedia = { media?: MediaInfo };

export type ArtworkType = "digital" | "watercolour" | "mural" | "oil" | "acrylic";
export type ContactReason = "general" | "commission" | "purchase" | "collaboration";
export type ContactStatus = "new" | "read" | "replied";

export type Product = {
  id: string;
  title: string;
  description: string | null;
  artwork_type: ArtworkType;
  image_url: string | null;
  image_gallery: string[];
  video_gallery: string[];
  is_featured: boolean;
  in_stock: boolean;
  dimensions: string | null;
  medium: string | null;
  creation_date: string | null;
  tags: string[];
  is_customizable: boolean;
  seo_meta_title: string | null;
  seo_meta_desc: string | null;
  price: number;
  created_at: string;
  /** The last write; null for a row that is older than the column. */
  updated_at?: string | null;
} & WithMedia;

export type Review = {
  id: string;
  client_name: string;
  location: string | null;
  message: string;
  image_url: string | null;
  is_active: boolean;
  display_order: number | null;
  created_at: string;
  updated_at?: string | null;
} & WithMedia;

export type CoverImage = {
  id: string;
  image_url: string;
  title: string | null;
  description: string | null;
  /** "video" or "image"; any other value is treated as image. */
  media_type: string;
  video_thumbnail_url: string | null;
  is_active: boolean;
  display_order: number | null;
  updated_at?: string | null;
} & WithMedia;

export type ContactSubmission = {
  id: string;
  name: string;
  email: string;
  message: string;
  reason: ContactReason;
  status: ContactStatus;
  created_at: string;
};

/** A message whose hidden field was filled in, kept for 30 days (READING §3.1). */
export type QuarantinedMessage = {
  id: string;
  name: string;
  email: string;
  message: string;
  /** What stood in the hidden field. */
  filled: string;
  created_at: string;
  expires_at: string;
};

/** What became of telling somebody of a message; a plan has not yet looked whom to tell. */
export type MessageNotice = {
  message_id: string;
  channel: "plan" | "mail" | "webhook" | "thanks";
  recipient: string;
  state: "waiting" | "retrying" | "sent" | "failed";
  error?: string;
  queued_at: string;
};

export type UserRole = { user_id: string; role: string };

/** What the owner says at /admin/settings; only `site` is ever part of a page. */
export type SiteSettings = {
  site: SiteTexts;
  /** Addresses that hear of new messages. */
  noticeEmail: string[];
  /** Called for each new message; empty for none. */
  noticeWebhook: string;
  /** Of the mails to the owner; empty for what each account asks for. */
  noticeLanguage: "en" | "pt" | "";
  /** Whether visitors get a thank-you mail. */
  thanksEnabled: boolean;
};
/** `version` names the state of the settings; a save must show the one that it was made from. */
export type SettingsAnswer = { version: string; settings: SiteSettings };

type Table<Row> = { Row: Row; Insert: Partial<Row>; Update: Partial<Row>; Relationships: [] };

export type Tables = {
  products: Table<Product>;
  reviews: Table<Review>;
  cover_images: Table<CoverImage>;
  contact_submissions: Table<ContactSubmission>;
  user_roles: Table<UserRole>;
};

/** The shape the query builder reads its types from. */
export type Database = {
  public: {
    Tables: Tables;
    Views: Record<string, never>;
    Functions: {
      get_user_role: { Args: { user_id: string }; Returns: string | null };
      get_site_settings: { Args: Record<string, never>; Returns: SettingsAnswer };
      save_site_settings: {
        Args: { version: string; settings: object };
        Returns: SettingsAnswer;
      };
      reorder_reviews: { Args: { ids: string[] }; Returns: undefined };
      set_media_focus: { Args: { address: string; x: number; y: number }; Returns: undefined };
    };
  };
};
