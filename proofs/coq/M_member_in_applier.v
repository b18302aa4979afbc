(* member_in_applier: what a member does, and the applier with it.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Tab : Type.
Variable some_Tab : Tab.
Variable eqb_Tab : Tab -> Tab -> bool.
Hypothesis eqb_Tab_true : forall x y, eqb_Tab x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable empty : Z -> bool.
Variable alters : Z -> Tab -> bool.
Variable vc : Z -> bool.
Variable local : Z -> bool.
Variable table : Row -> Tab.
Variable applier_ws : Z -> Row -> bool.
Variable applier_empty : Z -> bool.
Variable applier_vc : Z -> bool.
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb ((empty p) || (vc p))) || (negb (ws p r))) = true)).
(* DDL has no write set *)
Hypothesis axiom_ddl_has_no_write_set : (forall p : Z, (forall t : Tab, ((negb (alters p t)) || ((empty p) && (negb (vc p)))) = true)).
(* a view change has no session *)
Hypothesis axiom_view_changes_are_nobodys : (forall p : Z, ((negb (vc p)) || (negb (local p))) = true).
(* a transaction without write set names no row *)
Hypothesis axiom_applier_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb (applier_empty p)) || (negb (applier_ws p r))) = true)).

Record state : Type := {
  n : Z;
  next_sn : Z;
  lc_global : Z;
  has : Row -> bool;
  item_sn : Row -> Z;
  sn : Z -> Z;
  lc : Z -> Z;
  epoch : Z -> Z;
  base : Z;
  started : Z -> bool;
  committed : Z -> bool;
  stored : Row -> Z;
  defined : Tab -> Z;
  row_lock : Row -> Z;
  meta_lock : Tab -> Z;
  last : Row -> Z;
  last_ddl : Tab -> Z;
  before : Z -> Row -> Z;
  ddl_before : Z -> Tab -> Z;
  found : Z -> Row -> Z;
  found_ddl : Z -> Tab -> Z;
  purged : Row -> bool;
  imported : Row -> bool;
  applier_n : Z;
  applier_next_sn : Z;
  applier_lc_global : Z;
  applier_has : Row -> bool;
  applier_item_sn : Row -> Z;
  applier_sn : Z -> Z;
  applier_lc : Z -> Z;
  applier_epoch : Z -> Z;
  applier_window : Z -> Z;
  applier_parent : Z -> Z;
  applier_shared : Z -> Row;
  applier_item_position : Row -> Z;
  applier_base : Z;
  applier_started : Z -> bool;
  applier_committed : Z -> bool;
  applier_local_ws : Row -> bool;
  matched : Prop;
  place : Z -> Z;
  rank : Z -> Z
}.

Definition init_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (base st) 0) && ((Z.eqb (next_sn st) 2) && (Z.eqb (lc_global st) 1)))) = true.

Definition init_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (negb (committed st p))) = true).

Definition init_rows_as_they_were (st : state) : Prop :=
  (forall r : Row, ((negb (has st r)) && ((Z.eqb (stored st r) (-1)) && ((Z.eqb (last st r) (-1)) && (Z.eqb (row_lock st r) (-1))))) = true).

Definition init_tables_as_they_were (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (defined st t) (-1)) && ((Z.eqb (last_ddl st t) (-1)) && (Z.eqb (meta_lock st t) (-1)))) = true).

Definition init_applier_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (applier_n st) 0) && (Z.eqb (applier_base st) 0)) = true.

Definition init_applier_counters (st : state) : Prop :=
  ((Z.eqb (applier_next_sn st) 2) && (Z.eqb (applier_lc_global st) 1)) = true.

Definition init_applier_certification_info_is_empty (st : state) : Prop :=
  (forall r : Row, (negb (applier_has st r)) = true).

Definition init_applier_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (applier_started st p)) && (negb (applier_committed st p))) = true).

Definition init_nothing_to_match (st : state) : Prop :=
  (matched st).

Definition init (st : state) : Prop :=
  init_nothing_delivered st /\ init_nothing_started st /\ init_rows_as_they_were st /\ init_tables_as_they_were st /\ init_applier_nothing_delivered st /\ init_applier_counters st /\ init_applier_certification_info_is_empty st /\ init_applier_nothing_started st /\ init_nothing_to_match st.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_certify (st : state) (new_lc : Z) (witness : Row) : Prop :=
  (((negb (vc (n st))) = true) /\ (((negb (local (n st))) = true) /\ (((if (empty (n st)) then ((Z.eqb new_lc ((next_sn st) + (-1))) = true) else (((((lc_global st) <=? new_lc) = true) /\ (((new_lc <? (next_sn st)) = true) /\ ((forall r : Row, ((negb ((ws (n st) r) && (has st r))) || ((item_sn st r) <=? new_lc)) = true))))))) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ (((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true)) /\ ((if (empty (n st)) then ((Z.eqb new_lc ((next_sn st) + (-1))) = true) else (((((lc_global st) <=? new_lc) = true) /\ (((forall r : Row, ((negb ((ws (n st) r) && (has st r))) || ((item_sn st r) <=? new_lc)) = true)) /\ (((Z.eqb new_lc (lc_global st)) || ((ws (n st) witness) && ((has st witness) && (Z.eqb (item_sn st witness) new_lc)))) = true)))))))))))).
Definition act_certify (st : state) (new_lc : Z) (witness : Row) : state :=
  {|
     n := ((n st) + 1);
     next_sn := ((next_sn st) + 1);
     lc_global := (if (empty (n st)) then (next_sn st) else (lc_global st));
     has := fun (x0 : Row) => ((has st x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then (next_sn st) else (item_sn st x0));
     sn := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (next_sn st) else (sn st x0));
     lc := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then new_lc else (lc st x0));
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (last st x0));
     last_ddl := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (last_ddl st x0));
     before := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 (n st)) then (last st x1) else (before st x0 x1));
     ddl_before := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (last_ddl st x1) else (ddl_before st x0 x1));
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st;
     applier_n := ((applier_n st) + 1);
     applier_next_sn := ((applier_next_sn st) + 1);
     applier_lc_global := (if (applier_empty (applier_n st)) then (applier_next_sn st) else (applier_lc_global st));
     applier_has := fun (x0 : Row) => ((applier_has st x0) || (applier_ws (applier_n st) x0));
     applier_item_sn := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (applier_next_sn st) else (applier_item_sn st x0));
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_next_sn st) else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then new_lc else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_base st) else (applier_epoch st x0));
     applier_window := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_lc_global st) else (applier_window st x0));
     applier_parent := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_item_position st witness) else (applier_parent st x0));
     applier_shared := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then witness else (applier_shared st x0));
     applier_item_position := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (applier_n st) else (applier_item_position st x0));
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((negb (applier_vc (applier_n st))) = true) /\ ((if (applier_empty (applier_n st)) then ((Z.eqb new_lc ((applier_next_sn st) + (-1))) = true) else (((((applier_lc_global st) <=? new_lc) = true) /\ (((forall r : Row, ((negb ((applier_ws (applier_n st) r) && (applier_has st r))) || ((applier_item_sn st r) <=? new_lc)) = true)) /\ (((Z.eqb new_lc (applier_lc_global st)) || ((applier_ws (applier_n st) witness) && ((applier_has st witness) && (Z.eqb (applier_item_sn st witness) new_lc)))) = true))))))));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_change_view (st : state) : Prop :=
  (((vc (n st)) = true) /\ (((negb (local (n st))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true)))))).
Definition act_change_view (st : state) : state :=
  {|
     n := ((n st) + 1);
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st;
     applier_n := ((applier_n st) + 1);
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_base st) else (applier_epoch st x0));
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ ((applier_vc (applier_n st)) = true));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_join (st : state) (imported' : Row -> bool) : Prop :=
  (((vc (n st)) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (local p)))) || (committed st p)) = true)) /\ (((negb (local (n st))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true))))))).
Definition act_join (st : state) (imported' : Row -> bool) : state :=
  {|
     n := ((n st) + 1);
     next_sn := 2;
     lc_global := 1;
     has := fun (x0 : Row) => (imported' x0);
     item_sn := fun (x0 : Row) => 0;
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (n st) else (epoch st x0));
     base := (n st);
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := fun (x0 : Row) => (imported' x0);
     applier_n := ((applier_n st) + 1);
     applier_next_sn := 2;
     applier_lc_global := 1;
     applier_has := fun (x0 : Row) => (imported' x0);
     applier_item_sn := fun (x0 : Row) => 0;
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_n st) else (applier_epoch st x0));
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := (applier_n st);
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ ((applier_vc (applier_n st)) = true));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* a local transaction, which holds its locks from now on *)
Definition guard_certify_local (st : state) : Prop :=
  (((local (n st)) = true) /\ (((negb (vc (n st))) = true) /\ ((((Z.eqb (base st) 0) || (committed st (base st))) = true) /\ (((forall r : Row, ((negb ((ws (n st) r) || (alters (n st) (table r)))) || (Z.eqb (row_lock st r) (-1))) = true)) /\ (((forall t : Tab, ((negb (alters (n st) t)) || (Z.eqb (meta_lock st t) (-1))) = true)) /\ (((forall r : Row, ((negb (ws (n st) r)) || (Z.eqb (meta_lock st (table r)) (-1))) = true)) /\ ((forall r : Row, ((negb ((ws (n st) r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)))))))).
Definition act_certify_local (st : state) : state :=
  {|
     n := ((n st) + 1);
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := fun (x0 : Row) => ((has st x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then 0 else (item_sn st x0));
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 (n st)));
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (meta_lock st x0));
     last := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (last st x0));
     last_ddl := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (last_ddl st x0));
     before := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 (n st)) then (last st x1) else (before st x0 x1));
     ddl_before := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (last_ddl st x1) else (ddl_before st x0 x1));
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 (n st)) && (ws (n st) x1)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := fun (x0 : Row) => ((applier_has st x0) || (ws (n st) x0));
     applier_item_sn := fun (x0 : Row) => (if (ws (n st) x0) then 0 else (applier_item_sn st x0));
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := fun (x0 : Row) => (ws (n st) x0);
     matched := (((matched st)) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((applier_ws p r) && (ws (n st) r))))) || (applier_committed st p)) = true))));
     place := place st;
     rank := rank st
  |}.

(* a dialect's window, and the number that it leaves out *)
Definition guard_collect_garbage_last (st : state) (window : Z) (purged' : Row -> bool) : Prop :=
  ((((lc_global st) <=? window) = true) /\ (((window <? (next_sn st)) = true) /\ (((forall r : Row, ((negb ((purged' r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)) /\ ((Z.eqb window ((next_sn st) + (-1))) = true)))).
Definition act_collect_garbage_last (st : state) (window : Z) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := window;
     has := fun (x0 : Row) => ((has st x0) && (negb (purged' x0)));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := ((applier_next_sn st) + (-1));
     applier_has := fun (x0 : Row) => ((applier_has st x0) && (negb (purged' x0)));
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* a dialect's window, and the number that it leaves out *)
Definition guard_collect_garbage_burn (st : state) (window : Z) (purged' : Row -> bool) : Prop :=
  ((((lc_global st) <=? window) = true) /\ (((window <? ((next_sn st) + 1)) = true) /\ (((forall r : Row, ((negb ((purged' r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)) /\ ((Z.eqb window (next_sn st)) = true)))).
Definition act_collect_garbage_burn (st : state) (window : Z) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     next_sn := ((next_sn st) + 1);
     lc_global := window;
     has := fun (x0 : Row) => ((has st x0) && (negb (purged' x0)));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := ((applier_next_sn st) + 1);
     applier_lc_global := (applier_next_sn st);
     applier_has := fun (x0 : Row) => ((applier_has st x0) && (negb (purged' x0)));
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* the coordinator gives it to a worker *)
Definition guard_start (st : state) (q : Z) : Prop :=
  (((0 <=? q) = true) /\ (((q <? (n st)) = true) /\ (((negb (local q)) = true) /\ (((negb (started st q)) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? q))) || (started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? q) && (((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((sn st p) <=? (lc st q))))))) || ((negb (local p)) && ((vc p) || (vc q))))))) || (committed st p)) = true))))))).
Definition act_start (st : state) (q : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 q));
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := fun (x0 : Z) => ((applier_started st x0) || (Z.eqb x0 (rank st q)));
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((0 <=? (rank st q)) = true) /\ ((((rank st q) <? (applier_n st)) = true) /\ (((negb (applier_started st (rank st q))) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? (rank st q)))) || (applier_started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? (rank st q)) && ((applier_vc (rank st q)) || (((applier_vc p) && (negb (applier_vc (rank st q)))) || ((negb (applier_vc (rank st q))) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_epoch st (rank st q))) && ((applier_sn st p) <=? (applier_lc st (rank st q))))))))))) || (applier_committed st p)) = true)))))));
     place := place st;
     rank := rank st
  |}.

(* a worker's change, which the applier does not see *)
Definition guard_change_row (st : state) (worker : Z) (row : Row) : Prop :=
  ((started st worker) && ((negb (committed st worker)) && ((negb (local worker)) && ((ws worker row) && ((Z.eqb (row_lock st row) (-1)) && (Z.eqb (meta_lock st (table row)) (-1))))))) = true.
Definition act_change_row (st : state) (worker : Z) (row : Row) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := fun (x0 : Row) => (if (eqb_Row x0 row) then worker else (row_lock st x0));
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 worker) && (eqb_Row x1 row)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 worker) && (eqb_Tab x1 (table row))) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* a worker's change, which the applier does not see *)
Definition guard_alter (st : state) (worker : Z) (tab : Tab) : Prop :=
  (((started st worker) = true) /\ (((negb (committed st worker)) = true) /\ (((negb (local worker)) = true) /\ (((alters worker tab) = true) /\ (((Z.eqb (meta_lock st tab) (-1)) = true) /\ ((forall r : Row, ((negb (eqb_Tab (table r) tab)) || (Z.eqb (row_lock st r) (-1))) = true))))))).
Definition act_alter (st : state) (worker : Z) (tab : Tab) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := fun (x0 : Tab) => (if (eqb_Tab x0 tab) then worker else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 worker) && (eqb_Tab x1 tab)) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* a worker's engine commit *)
Definition guard_finish (st : state) (worker : Z) : Prop :=
  (((0 <=? worker) = true) /\ (((worker <? (n st)) = true) /\ (((started st worker) = true) /\ (((negb (committed st worker)) = true) /\ ((((local worker) = false -> ((((forall r : Row, ((negb (ws worker r)) || (Z.eqb (row_lock st r) worker)) = true)) /\ ((forall t : Tab, ((negb (alters worker t)) || (Z.eqb (meta_lock st t) worker)) = true)))))) /\ ((negb (local worker)) = true)))))).
Definition act_finish (st : state) (worker : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 worker));
     stored := fun (x0 : Row) => (if (ws worker x0) then worker else (stored st x0));
     defined := fun (x0 : Tab) => (if (alters worker x0) then worker else (defined st x0));
     row_lock := fun (x0 : Row) => (if (Z.eqb (row_lock st x0) worker) then (-1) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (Z.eqb (meta_lock st x0) worker) then (-1) else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := fun (x0 : Z) => ((applier_committed st x0) || (Z.eqb x0 (rank st worker)));
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((applier_started st (rank st worker)) = true) /\ ((negb (applier_committed st (rank st worker))) = true)));
     place := place st;
     rank := rank st
  |}.

(* a session's engine commit, which the applier does not see *)
Definition guard_commit_session (st : state) (worker : Z) : Prop :=
  (((0 <=? worker) = true) /\ (((worker <? (n st)) = true) /\ (((started st worker) = true) /\ (((negb (committed st worker)) = true) /\ ((((local worker) = false -> ((((forall r : Row, ((negb (ws worker r)) || (Z.eqb (row_lock st r) worker)) = true)) /\ ((forall t : Tab, ((negb (alters worker t)) || (Z.eqb (meta_lock st t) worker)) = true)))))) /\ ((local worker) = true)))))).
Definition act_commit_session (st : state) (worker : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 worker));
     stored := fun (x0 : Row) => (if (ws worker x0) then worker else (stored st x0));
     defined := fun (x0 : Tab) => (if (alters worker x0) then worker else (defined st x0));
     row_lock := fun (x0 : Row) => (if (Z.eqb (row_lock st x0) worker) then (-1) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (Z.eqb (meta_lock st x0) worker) then (-1) else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (new_lc : Z) (witness : Row), guard_certify st new_lc witness ->
    step st (act_certify st new_lc witness)
| step_change_view : guard_change_view st ->
    step st (act_change_view st)
| step_join : forall (imported' : Row -> bool), guard_join st imported' ->
    step st (act_join st imported')
| step_certify_local : guard_certify_local st ->
    step st (act_certify_local st)
| step_collect_garbage_last : forall (window : Z) (purged' : Row -> bool), guard_collect_garbage_last st window purged' ->
    step st (act_collect_garbage_last st window purged')
| step_collect_garbage_burn : forall (window : Z) (purged' : Row -> bool), guard_collect_garbage_burn st window purged' ->
    step st (act_collect_garbage_burn st window purged')
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_change_row : forall (worker : Z) (row : Row), guard_change_row st worker row ->
    step st (act_change_row st worker row)
| step_alter : forall (worker : Z) (tab : Tab), guard_alter st worker tab ->
    step st (act_alter st worker tab)
| step_finish : forall (worker : Z), guard_finish st worker ->
    step st (act_finish st worker)
| step_commit_session : forall (worker : Z), guard_commit_session st worker ->
    step st (act_commit_session st worker).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition inv_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* what is in the relay log has one place in the order of delivery *)
Definition inv_place_is_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (applier_n st)))) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && ((negb (local (place st p))) && (Z.eqb (rank st (place st p)) p))))) = true).

(* what came from elsewhere is in the relay log *)
Definition inv_rank_is_logged (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((0 <=? (rank st k_)) && (((rank st k_) <? (applier_n st)) && (Z.eqb (place st (rank st k_)) k_)))) = true).

(* in the order in which it was delivered *)
Definition inv_rank_rises (st : state) : Prop :=
  (forall k_ : Z, (forall l : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && ((negb (local k_)) && ((0 <=? l) && ((l <? (n st)) && ((negb (local l)) && (k_ <? l)))))))) || ((rank st k_) <? (rank st l))) = true)).

(* both models are told the same transaction *)
Definition inv_transactions_agree (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((Bool.eqb (applier_vc (rank st k_)) (vc k_)) && (Bool.eqb (applier_empty (rank st k_)) (empty k_)))) = true).

(* and the same rows *)
Definition inv_write_sets_agree (st : state) : Prop :=
  (forall k_ : Z, (forall r : Row, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || (Bool.eqb (applier_ws (rank st k_) r) (ws k_ r))) = true)).

(* it has the same LC and SN in both *)
Definition inv_timestamps_agree (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && ((negb (local k_)) && (negb (vc k_)))))) || ((Z.eqb (applier_sn st (rank st k_)) (sn st k_)) && (Z.eqb (applier_lc st (rank st k_)) (lc st k_)))) = true).

(* it has started in both or in none, and so it has committed *)
Definition inv_progress_agrees (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((Bool.eqb (applier_started st (rank st k_)) (started st k_)) && (Bool.eqb (applier_committed st (rank st k_)) (committed st k_)))) = true).

(* the next number and the window are the same *)
Definition inv_counters_agree (st : state) : Prop :=
  ((Z.eqb (applier_next_sn st) (next_sn st)) && ((Z.eqb (applier_lc_global st) (lc_global st)) && ((applier_n st) <=? (n st)))) = true.

(* and so is the certification info *)
Definition inv_items_agree (st : state) : Prop :=
  (forall r : Row, ((Bool.eqb (applier_has st r) (has st r)) && ((negb (has st r)) || (Z.eqb (applier_item_sn st r) (item_sn st r)))) = true).

(* and so for each position of the relay log *)
Definition inv_progress_in_log_agrees (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (applier_n st)))) || ((Bool.eqb (applier_started st p) (started st (place st p))) && (Bool.eqb (applier_committed st p) (committed st (place st p))))) = true).

(* the window lies below the next number *)
Definition inv_applier_counters (st : state) : Prop :=
  ((0 <=? (applier_n st)) && ((0 <=? (applier_base st)) && (((applier_base st) <=? (applier_n st)) && ((1 <=? (applier_lc_global st)) && ((applier_lc_global st) <? (applier_next_sn st)))))) = true.

(* nothing commits that did not start *)
Definition inv_applier_finished_was_started (st : state) : Prop :=
  (forall p : Z, ((negb (applier_committed st p)) || (applier_started st p)) = true).

(* nothing starts that was not delivered *)
Definition inv_applier_started_was_delivered (st : state) : Prop :=
  (forall p : Z, ((negb (applier_started st p)) || ((0 <=? p) && (p <? (applier_n st)))) = true).

(* an uncommitted writer is remembered by the row's item or by the window *)
Definition inv_item_is_covered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((negb (local p)) && ((Z.eqb (epoch st p) (base st)) && (ws p r))))))) || ((committed st p) || (((has st r) && ((sn st p) <=? (item_sn st r))) || ((sn st p) <=? (lc_global st))))) = true)).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_row_dependency_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((ws p r) && (ws q r))))))))))))) || (((sn st p) <=? (lc st q)) || (committed st p))) = true))).

(* a view change started after everything in the relay log before it *)
Definition inv_view_change_waited (st : state) : Prop :=
  (forall p : Z, (forall v : Z, ((negb ((0 <=? v) && ((v <? (n st)) && ((vc v) && ((started st v) && ((0 <=? p) && ((p <? v) && (negb (local p))))))))) || (committed st p)) = true)).

(* between two epochs lies the view change that reset the counters *)
Definition inv_epoch_begins_with_a_view_change (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && (negb (Z.eqb (epoch st p) (epoch st q))))))))) || ((p <? (epoch st q)) && (((epoch st q) <=? q) && (vc (epoch st q))))) = true)).

(* an earlier epoch lies before the view change that began this one *)
Definition inv_old_epoch_lies_before_the_base (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (((epoch st p) <=? (base st)) && ((Z.eqb (epoch st p) (base st)) || (p <? (base st))))) = true).

(* an epoch begins at a view change, or at the beginning *)
Definition inv_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (base st) 0) || ((vc (base st)) && ((base st) <? (n st)))) = true.

(* no conflicting parallel apply, across view changes *)
Definition inv_row_writers_start_in_turn (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((started st q) && ((ws p r) && (ws q r))))))))))))) || (committed st p)) = true))).

(* delivered, then started, then committed *)
Definition inv_phases (st : state) : Prop :=
  (forall p : Z, (((negb (committed st p)) || (started st p)) && ((negb (started st p)) || ((0 <=? p) && (p <? (n st))))) = true).

(* an item is missing because it was stable, or not imported *)
Definition inv_missing_item_was_executed (st : state) : Prop :=
  (forall r : Row, ((negb ((negb (has st r)) && (0 <=? (last st r)))) || ((committed st (last st r)) || ((last st r) <? (base st)))) = true).

(* a row is locked by a running writer of it *)
Definition inv_row_lock_is_a_writers (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (row_lock st r) (-1)) || ((0 <=? (row_lock st r)) && (((row_lock st r) <? (n st)) && ((started st (row_lock st r)) && ((negb (committed st (row_lock st r))) && (ws (row_lock st r) r)))))) = true).

(* a session's rows are locked until its engine commit *)
Definition inv_session_keeps_its_rows (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((local p) && ((negb (committed st p)) && (ws p r)))))) || (Z.eqb (row_lock st r) p)) = true)).

(* a transaction that changed a row came after every earlier writer's commit *)
Definition inv_writers_follow_each_other (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((ws p r) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))))))) || (committed st p)) = true))).

(* the last certified writer of a row writes it *)
Definition inv_last_is_a_writer (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (last st r) (-1)) || ((0 <=? (last st r)) && (((last st r) <? (n st)) && (ws (last st r) r)))) = true).

(* and none is later *)
Definition inv_last_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && (ws p r)))) || (p <=? (last st r))) = true)).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition safe_every_step_is_matched (st : state) : Prop :=
  (matched st).

