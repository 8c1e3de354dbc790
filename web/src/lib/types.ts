// Rows exactly as specification §3 names them. Type aliases, not interfaces: the query builder's
// generics need an index signature, which interfaces lack.

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

export type UserRole = { user_id: string; role: string };

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
      reorder_reviews: { Args: { ids: string[] }; Returns: undefined };
      set_media_focus: { Args: { address: string; x: number; y: number }; Returns: undefined };
    };
  };
};
