(* group_in_parallel_applier: what a group does, and the applier of one member with it.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Member : Type.
Variable some_Member : Member.
Variable eqb_Member : Member -> Member -> bool.
Hypothesis eqb_Member_true : forall x y, eqb_Member x y = true <-> x = y.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Txn -> Row -> bool.
Variable empty : Txn -> bool.
Variable applier_ws : Z -> Row -> bool.
Variable applier_empty : Z -> bool.
Variable applier_vc : Z -> bool.
Variable here : Member.
Variable which : Z.
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall t : Txn, (forall r : Row, ((negb (empty t)) || (negb (ws t r))) = true)).
(* a transaction without write set names no row *)
Hypothesis axiom_applier_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb (applier_empty p)) || (negb (applier_ws p r))) = true)).

Record state : Type := {
  n : Z;
  in_group : Member -> bool;
  upto : Member -> Z;
  value_ : Member -> Row -> Z;
  begun : Txn -> bool;
  live : Txn -> bool;
  home : Txn -> Member;
  saw : Txn -> Row -> Z;
  sent : Txn -> bool;
  snap : Txn -> Z;
  number : Txn -> Z;
  delivered : Txn -> bool;
  certified : Txn -> bool;
  place : Txn -> Z;
  txn_at : Z -> Txn;
  has : Row -> bool;
  out : Member -> Z;
  arrived : Member -> Z;
  reports : Member -> bool;
  report_number : Member -> Z;
  report_value : Member -> Z;
  reported : Member -> Z;
  stable : Z;
  version : Z -> Row -> Z;
  received : Member -> Z;
  first : Member -> Z;
  next_sn : Member -> Z;
  lc_global : Member -> Z;
  known : Member -> Row -> bool;
  item_sn : Member -> Row -> Z;
  sn : Member -> Z -> Z;
  lc : Member -> Z -> Z;
  started : Member -> Z -> bool;
  row_lock : Member -> Row -> Z;
  purged : Row -> bool;
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
  applier_imported : Row -> bool;
  applier_local_ws : Row -> bool;
  matched : Prop;
  crashes : Z;
  logged_at : Z -> Z;
  rank : Z -> Z
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (Z.eqb (stable st) 0)) = true.

Definition init_nothing_begun (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) && ((negb (live st t)) && ((negb (sent st t)) && ((negb (delivered st t)) && (negb (certified st t)))))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall m : Member, ((Z.eqb (upto st m) 0) && ((Z.eqb (reported st m) 0) && ((negb (reports st m)) && ((Z.eqb (out st m) 0) && (Z.eqb (arrived st m) 0))))) = true).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (version st 0 r) (-1)) && (negb (has st r))) = true).

Definition init_nothing_stored (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (-1)) = true)).

Definition init_nothing_received (st : state) : Prop :=
  (forall m : Member, ((Z.eqb (received st m) 0) && (((first st m) <=? 0) && ((Z.eqb (next_sn st m) 2) && (Z.eqb (lc_global st m) 1)))) = true).

Definition init_nothing_known_or_locked (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((negb (known st m r)) && (Z.eqb (row_lock st m r) (-1))) = true)).

Definition init_nothing_started (st : state) : Prop :=
  (forall m : Member, (forall p : Z, (negb (started st m p)) = true)).

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

Definition init_no_crash (st : state) : Prop :=
  (Z.eqb (crashes st) 0) = true.

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_begun st /\ init_nothing_applied st /\ init_nothing_written st /\ init_nothing_stored st /\ init_nothing_received st /\ init_nothing_known_or_locked st /\ init_nothing_started st /\ init_applier_nothing_delivered st /\ init_applier_counters st /\ init_applier_certification_info_is_empty st /\ init_applier_nothing_started st /\ init_nothing_to_match st /\ init_no_crash st.

(* the first remote transaction after a start, with (0, 0) *)
Definition guard_receive_first (st : state) (new_lc : Z) : Prop :=
  (((in_group st here) = true) /\ ((((received st here) <? (n st)) = true) /\ (((certified st (txn_at st (received st here))) = true) /\ (((negb ((live st (txn_at st (received st here))) && (eqb_Member (home st (txn_at st (received st here))) here))) = true) /\ (((if (Z.eqb (received st here) (first st here)) then ((Z.eqb new_lc 0) = true) else ((if (empty (txn_at st (received st here))) then ((Z.eqb new_lc ((next_sn st here) + (-1))) = true) else (((((lc_global st here) <=? new_lc) = true) /\ (((new_lc <? (next_sn st here)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (received st here))) && ((ws (txn_at st (received st here)) r) && (known st here r)))) || ((item_sn st here r) <=? new_lc)) = true))))))))) /\ (((Z.eqb (crashes st) which) = true) /\ (((Z.eqb (received st here) (first st here)) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) true) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (txn_at st (received st here)))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (txn_at st (received st here)) r)) = true))))))))))).
Definition act_receive_first (st : state) (new_lc : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 here) then ((received st here) + 1) else (received st x0));
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 here) then ((next_sn st here) + 1) else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if ((eqb_Member x0 here) && (empty (txn_at st (received st here)))) then (next_sn st here) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))) then (next_sn st here) else (item_sn st x0 x1));
     sn := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 here) && (Z.eqb x1 (received st here))) then (if (Z.eqb (received st here) (first st here)) then 0 else (next_sn st here)) else (sn st x0 x1));
     lc := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 here) && (Z.eqb x1 (received st here))) then new_lc else (lc st x0 x1));
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     applier_n := ((applier_n st) + 1);
     applier_next_sn := ((next_sn st here) + 1);
     applier_lc_global := (if (applier_empty (applier_n st)) then (next_sn st here) else (lc_global st here));
     applier_has := fun (x0 : Row) => ((known st here x0) || (applier_ws (applier_n st) x0));
     applier_item_sn := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (next_sn st here) else 0);
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_n st) else (applier_epoch st x0));
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (applier_n st) else (applier_item_position st x0));
     applier_base := (applier_n st);
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     applier_imported := fun (x0 : Row) => (known st here x0);
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((applier_vc (applier_n st)) = true) /\ (((2 <=? (next_sn st here)) = true) /\ (((1 <=? (lc_global st here)) = true) /\ (((lc_global st here) <=? (next_sn st here)) = true)))));
     crashes := crashes st;
     logged_at := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (received st here) else (logged_at st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (received st here)) then (applier_n st) else (rank st x0))
  |}.

(* a remote transaction gets the least LC *)
Definition guard_receive (st : state) (new_lc : Z) (witness : Row) : Prop :=
  (((in_group st here) = true) /\ ((((received st here) <? (n st)) = true) /\ (((certified st (txn_at st (received st here))) = true) /\ (((negb ((live st (txn_at st (received st here))) && (eqb_Member (home st (txn_at st (received st here))) here))) = true) /\ (((if (Z.eqb (received st here) (first st here)) then ((Z.eqb new_lc 0) = true) else ((if (empty (txn_at st (received st here))) then ((Z.eqb new_lc ((next_sn st here) + (-1))) = true) else (((((lc_global st here) <=? new_lc) = true) /\ (((new_lc <? (next_sn st here)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (received st here))) && ((ws (txn_at st (received st here)) r) && (known st here r)))) || ((item_sn st here r) <=? new_lc)) = true))))))))) /\ (((Z.eqb (crashes st) which) = true) /\ (((negb (Z.eqb (received st here) (first st here))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) false) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (txn_at st (received st here)))) = true) /\ (((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (txn_at st (received st here)) r)) = true)) /\ (((empty (txn_at st (received st here))) || ((Z.eqb new_lc (lc_global st here)) || ((certified st (txn_at st (received st here))) && ((ws (txn_at st (received st here)) witness) && ((known st here witness) && (Z.eqb (item_sn st here witness) new_lc)))))) = true))))))))))).
Definition act_receive (st : state) (new_lc : Z) (witness : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 here) then ((received st here) + 1) else (received st x0));
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 here) then ((next_sn st here) + 1) else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if ((eqb_Member x0 here) && (empty (txn_at st (received st here)))) then (next_sn st here) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))) then (next_sn st here) else (item_sn st x0 x1));
     sn := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 here) && (Z.eqb x1 (received st here))) then (if (Z.eqb (received st here) (first st here)) then 0 else (next_sn st here)) else (sn st x0 x1));
     lc := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 here) && (Z.eqb x1 (received st here))) then new_lc else (lc st x0 x1));
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((negb (applier_vc (applier_n st))) = true) /\ ((if (applier_empty (applier_n st)) then ((Z.eqb new_lc ((applier_next_sn st) + (-1))) = true) else (((((applier_lc_global st) <=? new_lc) = true) /\ (((forall r : Row, ((negb ((applier_ws (applier_n st) r) && (applier_has st r))) || ((applier_item_sn st r) <=? new_lc)) = true)) /\ (((Z.eqb new_lc (applier_lc_global st)) || ((applier_ws (applier_n st) witness) && ((applier_has st witness) && (Z.eqb (applier_item_sn st witness) new_lc)))) = true))))))));
     crashes := crashes st;
     logged_at := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (received st here) else (logged_at st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (received st here)) then (applier_n st) else (rank st x0))
  |}.

(* what another member numbers, or this one at another time *)
Definition guard_receive_elsewhere (st : state) (m : Member) (new_lc : Z) : Prop :=
  (((in_group st m) = true) /\ ((((received st m) <? (n st)) = true) /\ (((certified st (txn_at st (received st m))) = true) /\ (((negb ((live st (txn_at st (received st m))) && (eqb_Member (home st (txn_at st (received st m))) m))) = true) /\ (((if (Z.eqb (received st m) (first st m)) then ((Z.eqb new_lc 0) = true) else ((if (empty (txn_at st (received st m))) then ((Z.eqb new_lc ((next_sn st m) + (-1))) = true) else (((((lc_global st m) <=? new_lc) = true) /\ (((new_lc <? (next_sn st m)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (received st m))) && ((ws (txn_at st (received st m)) r) && (known st m r)))) || ((item_sn st m r) <=? new_lc)) = true))))))))) /\ ((negb ((eqb_Member m here) && (Z.eqb (crashes st) which))) = true)))))).
Definition act_receive_elsewhere (st : state) (m : Member) (new_lc : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then ((received st m) + 1) else (received st x0));
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then ((next_sn st m) + 1) else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if ((eqb_Member x0 m) && (empty (txn_at st (received st m)))) then (next_sn st m) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))) then (next_sn st m) else (item_sn st x0 x1));
     sn := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (received st m))) then (if (Z.eqb (received st m) (first st m)) then 0 else (next_sn st m)) else (sn st x0 x1));
     lc := fun (x0 : Member) (x1 : Z) => (if ((eqb_Member x0 m) && (Z.eqb x1 (received st m))) then new_lc else (lc st x0 x1));
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* an own transaction, whose items have no number *)
Definition guard_pass_over_session (st : state) : Prop :=
  ((in_group st here) && (((received st here) <? (n st)) && ((negb ((certified st (txn_at st (received st here))) && (negb ((live st (txn_at st (received st here))) && (eqb_Member (home st (txn_at st (received st here))) here))))) && ((Z.eqb (crashes st) which) && (((first st here) <? (received st here)) && (certified st (txn_at st (received st here)))))))) = true.
Definition act_pass_over_session (st : state) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 here) then ((received st here) + 1) else (received st x0));
     first := fun (x0 : Member) => (if ((eqb_Member x0 here) && (Z.eqb (first st here) (received st here))) then ((received st here) + 1) else (first st x0));
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 here) && ((certified st (txn_at st (received st here))) && (ws (txn_at st (received st here)) x1))) then 0 else (item_sn st x0 x1));
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := fun (x0 : Row) => ((applier_has st x0) || (ws (txn_at st (received st here)) x0));
     applier_item_sn := fun (x0 : Row) => (if (ws (txn_at st (received st here)) x0) then 0 else (applier_item_sn st x0));
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
     applier_imported := applier_imported st;
     applier_local_ws := fun (x0 : Row) => (ws (txn_at st (received st here)) x0);
     matched := (((matched st)) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((applier_ws p r) && (ws (txn_at st (received st here)) r))))) || (applier_committed st p)) = true))));
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a refused one, an own one of another member, or one before the first remote one *)
Definition guard_pass_over (st : state) (m : Member) : Prop :=
  ((in_group st m) && (((received st m) <? (n st)) && ((negb ((certified st (txn_at st (received st m))) && (negb ((live st (txn_at st (received st m))) && (eqb_Member (home st (txn_at st (received st m))) m))))) && (negb ((eqb_Member m here) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && (certified st (txn_at st (received st here))))))))))) = true.
Definition act_pass_over (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then ((received st m) + 1) else (received st x0));
     first := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (first st m) (received st m))) then ((received st m) + 1) else (first st x0));
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) || ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))));
     item_sn := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (received st m))) && (ws (txn_at st (received st m)) x1))) then 0 else (item_sn st x0 x1));
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* the member purges stable items, and opens the window of a dialect *)
Definition guard_collect_at_last (st : state) (purged' : Row -> bool) : Prop :=
  (((in_group st here) = true) /\ ((((lc_global st here) <=? ((next_sn st here) + (-1))) = true) /\ (((((next_sn st here) + (-1)) <? (next_sn st here)) = true) /\ (((forall r : Row, ((negb (purged' r)) || ((version st (received st here) r) <? (stable st))) = true)) /\ (((Z.eqb (crashes st) which) = true) /\ (((first st here) <? (received st here)) = true)))))).
Definition act_collect_at_last (st : state) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 here) then ((next_sn st here) + (-1)) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) && (negb ((eqb_Member x0 here) && (purged' x1))));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := fun (x0 : Row) => (purged' x0);
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* the member purges stable items, and opens the window of a dialect *)
Definition guard_collect_at_burn (st : state) (purged' : Row -> bool) : Prop :=
  (((in_group st here) = true) /\ ((((lc_global st here) <=? ((if true then ((next_sn st here) + 1) else (next_sn st here)) + (-1))) = true) /\ (((((if true then ((next_sn st here) + 1) else (next_sn st here)) + (-1)) <? (if true then ((next_sn st here) + 1) else (next_sn st here))) = true) /\ (((forall r : Row, ((negb (purged' r)) || ((version st (received st here) r) <? (stable st))) = true)) /\ (((Z.eqb (crashes st) which) = true) /\ (((first st here) <? (received st here)) = true)))))).
Definition act_collect_at_burn (st : state) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 here) then ((next_sn st here) + 1) else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 here) then ((if true then ((next_sn st here) + 1) else (next_sn st here)) + (-1)) else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) && (negb ((eqb_Member x0 here) && (purged' x1))));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := fun (x0 : Row) => (purged' x0);
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a collection elsewhere, or before the first remote transaction *)
Definition guard_collect_at (st : state) (m : Member) (window : Z) (purged' : Row -> bool) : Prop :=
  (((in_group st m) = true) /\ ((((lc_global st m) <=? window) = true) /\ (((window <? (next_sn st m)) = true) /\ (((forall r : Row, ((negb (purged' r)) || ((version st (received st m) r) <? (stable st))) = true)) /\ ((negb ((eqb_Member m here) && ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here)))))) = true))))).
Definition act_collect_at (st : state) (m : Member) (window : Z) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 m) then window else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => ((known st x0 x1) && (negb ((eqb_Member x0 m) && (purged' x1))));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := fun (x0 : Row) => (purged' x0);
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* and so an unused number *)
Definition guard_leave_out_number (st : state) (m : Member) : Prop :=
  ((in_group st m) && (negb ((eqb_Member m here) && ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here))))))) = true.
Definition act_leave_out_number (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then ((next_sn st m) + 1) else (next_sn st x0));
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* the coordinator gives it to a worker, in the order of the log *)
Definition guard_start (st : state) (q : Z) : Prop :=
  (((in_group st here) = true) /\ ((((upto st here) <=? q) = true) /\ (((q <? (received st here)) = true) /\ (((certified st (txn_at st q)) = true) /\ (((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) here))) = true) /\ (((negb (started st here q)) = true) /\ (((forall p : Z, (negb ((p <? q) && ((in_group st here) && (((upto st here) <=? p) && ((p <? (received st here)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) here))) && ((q <? (first st here)) || ((Z.eqb (sn st here q) 0) || ((sn st here p) <=? (lc st here q))))))))))) = true)) /\ (((Z.eqb (crashes st) which) = true) /\ ((((first st here) <? (received st here)) = true) /\ ((((first st here) <=? q) = true) /\ ((forall p : Z, ((negb (((first st here) <=? p) && ((p <? q) && ((in_group st here) && (((upto st here) <=? p) && ((p <? (received st here)) && ((certified st (txn_at st p)) && (negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) here)))))))))) || (started st here p)) = true)))))))))))).
Definition act_start (st : state) (q : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := fun (x0 : Member) (x1 : Z) => ((started st x0 x1) || ((eqb_Member x0 here) && (Z.eqb x1 q)));
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((0 <=? (rank st q)) = true) /\ ((((rank st q) <? (applier_n st)) = true) /\ (((negb (applier_started st (rank st q))) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? (rank st q)))) || (applier_started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? (rank st q)) && ((applier_vc (rank st q)) || (((applier_vc p) && (negb (applier_vc (rank st q)))) || ((negb (applier_vc (rank st q))) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_epoch st (rank st q))) && ((applier_sn st p) <=? (applier_lc st (rank st q))))))))))) || (applier_committed st p)) = true)))))));
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a start at another member, or in recovery *)
Definition guard_start_elsewhere (st : state) (m : Member) (q : Z) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <=? q) = true) /\ (((q <? (received st m)) = true) /\ (((certified st (txn_at st q)) = true) /\ (((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) = true) /\ (((negb (started st m q)) = true) /\ (((forall p : Z, (negb ((p <? q) && ((in_group st m) && (((upto st m) <=? p) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((q <? (first st m)) || ((Z.eqb (sn st m q) 0) || ((sn st m p) <=? (lc st m q))))))))))) = true)) /\ ((negb ((eqb_Member m here) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((first st here) <=? q)))))) = true)))))))).
Definition act_start_elsewhere (st : state) (m : Member) (q : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := fun (x0 : Member) (x1 : Z) => ((started st x0 x1) || ((eqb_Member x0 m) && (Z.eqb x1 q)));
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a worker's engine commit *)
Definition guard_finish (st : state) (m : Member) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <? (n st)) = true) /\ ((((upto st m) <? (received st m)) = true) /\ ((((negb ((certified st (txn_at st (upto st m))) && (negb ((live st (txn_at st (upto st m))) && (eqb_Member (home st (txn_at st (upto st m))) m))))) = false -> ((((started st m (upto st m)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) r))) || (Z.eqb (row_lock st m r) (upto st m))) = true)))))) /\ (((eqb_Member m here) = true) /\ (((Z.eqb (crashes st) which) = true) /\ (((in_group st here) = true) /\ ((((first st here) <? (received st here)) = true) /\ (((certified st (txn_at st (upto st m))) = true) /\ (((negb ((live st (txn_at st (upto st m))) && (eqb_Member (home st (txn_at st (upto st m))) here))) = true) /\ (((first st here) <=? (upto st m)) = true))))))))))).
Definition act_finish (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then ((upto st m) + 1) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) x1))) then (upto st m) else (value_ st x0 x1));
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb ((eqb_Txn x0 (txn_at st (upto st m))) && (eqb_Member (home st x0) m))));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && (Z.eqb (row_lock st x0 x1) (upto st m))) then (-1) else (row_lock st x0 x1));
     purged := purged st;
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
     applier_committed := fun (x0 : Z) => ((applier_committed st x0) || (Z.eqb x0 (rank st (upto st m))));
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := (((matched st)) /\ (((applier_started st (rank st (upto st m))) = true) /\ ((negb (applier_committed st (rank st (upto st m)))) = true)));
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a session's engine commit, or one of another member or of recovery *)
Definition guard_apply (st : state) (m : Member) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <? (n st)) = true) /\ ((((upto st m) <? (received st m)) = true) /\ ((((negb ((certified st (txn_at st (upto st m))) && (negb ((live st (txn_at st (upto st m))) && (eqb_Member (home st (txn_at st (upto st m))) m))))) = false -> ((((started st m (upto st m)) = true) /\ ((forall r : Row, ((negb ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) r))) || (Z.eqb (row_lock st m r) (upto st m))) = true)))))) /\ ((negb ((eqb_Member m here) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((certified st (txn_at st (upto st m))) && ((negb ((live st (txn_at st (upto st m))) && (eqb_Member (home st (txn_at st (upto st m))) here))) && ((first st here) <=? (upto st m))))))))) = true))))).
Definition act_apply (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then ((upto st m) + 1) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) x1))) then (upto st m) else (value_ st x0 x1));
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb ((eqb_Txn x0 (txn_at st (upto st m))) && (eqb_Member (home st x0) m))));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && (Z.eqb (row_lock st x0 x1) (upto st m))) then (-1) else (row_lock st x0 x1));
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a member crashes or is expelled, and a view change says so *)
Definition guard_crash (st : state) (m : Member) : Prop :=
  (in_group st m) = true.
Definition act_crash (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) && (negb (eqb_Member x0 m)));
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Member (home st x0) m)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := (if (eqb_Member m here) then ((crashes st) + 1) else (crashes st));
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a session reads and changes its rows, and holds their locks *)
Definition guard_execute (st : state) (t : Txn) (m : Member) : Prop :=
  (((negb (begun st t)) = true) /\ (((in_group st m) = true) /\ (((forall u : Txn, (forall r : Row, (negb ((live st u) && ((eqb_Member (home st u) m) && ((ws u r) && (ws t r))))) = true))) /\ ((forall r : Row, ((negb (ws t r)) || (Z.eqb (row_lock st m r) (-1))) = true))))).
Definition act_execute (st : state) (t : Txn) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := fun (x0 : Txn) => ((begun st x0) || (eqb_Txn x0 t));
     live := fun (x0 : Txn) => ((live st x0) || (eqb_Txn x0 t));
     home := fun (x0 : Txn) => (if (eqb_Txn x0 t) then m else (home st x0));
     saw := fun (x0 : Txn) (x1 : Row) => (if (eqb_Txn x0 t) then (value_ st m x1) else (saw st x0 x1));
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st m) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* its snapshot is of what its member has applied by now *)
Definition guard_take_snapshot (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_take_snapshot (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st (home st t)) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* it commits: write set and snapshot go to the group *)
Definition guard_send (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_send (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := fun (x0 : Txn) => ((sent st x0) || (eqb_Txn x0 t));
     snap := snap st;
     number := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (out st (home st t)) else (number st x0));
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* the client, or a worker that wants one of its rows, ends the session *)
Definition guard_roll_back (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (delivered st t))) = true.
Definition act_roll_back (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* delivered; no item of its rows is newer than its snapshot *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((sent st t) = true) /\ (((negb (delivered st t)) = true) /\ ((((arrived st (home st t)) <=? (number st t)) = true) /\ (((in_group st (home st t)) = true) /\ (((Z.eqb (arrived st (home st t)) (number st t)) = true) /\ ((forall r : Row, (negb ((ws t r) && ((has st r) && ((snap st t) <=? (version st (n st) r))))) = true))))))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := fun (x0 : Row) => ((has st x0) || (ws t x0));
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (if (ws t x1) then (n st) else (version st (n st) x1)) else (version st x0 x1));
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* delivered; an item is newer, and the session rolls back *)
Definition guard_refuse (st : state) (t : Txn) (r : Row) : Prop :=
  ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((Z.eqb (arrived st (home st t)) (number st t)) && ((ws t r) && ((has st r) && ((snap st t) <=? (version st (n st) r))))))))) = true.
Definition act_refuse (st : state) (t : Txn) (r : Row) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (version st (n st) x1) else (version st x0 x1));
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a member sends what it has applied *)
Definition guard_report (st : state) (m : Member) : Prop :=
  ((in_group st m) && (negb (reports st m))) = true.
Definition act_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 m) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) || (eqb_Member x0 m));
     report_number := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (report_number st x0));
     report_value := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st m) else (report_value st x0));
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* the report is delivered in its place of the order *)
Definition guard_receive_report (st : state) (m : Member) : Prop :=
  ((reports st m) && ((in_group st m) && (Z.eqb (arrived st m) (report_number st m)))) = true.
Definition act_receive_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (arrived st m) (report_number st m))) then ((arrived st x0) + 1) else (arrived st x0));
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (report_value st x0) else (reported st x0));
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* what all members have reported is stable *)
Definition guard_settle (st : state) (level : Z) : Prop :=
  (((forall m : Member, ((negb (in_group st m)) || (level <=? (reported st m))) = true)) /\ (((level <=? (n st)) = true) /\ (((stable st) <=? level) = true))).
Definition act_settle (st : state) (level : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := level;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* an item whose version is stable is purged *)
Definition guard_collect (st : state) (r : Row) : Prop :=
  ((version st (n st) r) <? (stable st)) = true.
Definition act_collect (st : state) (r : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := fun (x0 : Row) => ((has st x0) && (negb (eqb_Row x0 r)));
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := row_lock st;
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a member comes, or comes back, with its donor's state, and a view change says so *)
Definition guard_join (st : state) (m : Member) (donor : Member) : Prop :=
  ((negb (in_group st m)) && (in_group st donor)) = true.
Definition act_join (st : state) (m : Member) (donor : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) || (eqb_Member x0 m));
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st donor) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (value_ st donor x1) else (value_ st x0 x1));
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (reported st donor) else (reported st x0));
     stable := stable st;
     version := version st;
     received := fun (x0 : Member) => (if (eqb_Member x0 m) then (n st) else (received st x0));
     first := fun (x0 : Member) => (if (eqb_Member x0 m) then (n st) else (first st x0));
     next_sn := fun (x0 : Member) => (if (eqb_Member x0 m) then 2 else (next_sn st x0));
     lc_global := fun (x0 : Member) => (if (eqb_Member x0 m) then 1 else (lc_global st x0));
     known := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (has st x1) else (known st x0 x1));
     item_sn := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then 0 else (item_sn st x0 x1));
     sn := sn st;
     lc := lc st;
     started := fun (x0 : Member) (x1 : Z) => ((started st x0 x1) && (negb (eqb_Member x0 m)));
     row_lock := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (-1) else (row_lock st x0 x1));
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

(* a worker changes a row, and holds its lock until the engine commit *)
Definition guard_change_row (st : state) (m : Member) (q : Z) (r : Row) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <=? q) = true) /\ (((q <? (received st m)) = true) /\ (((certified st (txn_at st q)) = true) /\ (((negb ((live st (txn_at st q)) && (eqb_Member (home st (txn_at st q)) m))) = true) /\ (((started st m q) = true) /\ (((ws (txn_at st q) r) = true) /\ (((Z.eqb (row_lock st m r) (-1)) = true) /\ ((forall t : Txn, (negb ((live st t) && ((eqb_Member (home st t) m) && (ws t r)))) = true)))))))))).
Definition act_change_row (st : state) (m : Member) (q : Z) (r : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     received := received st;
     first := first st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     known := known st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     started := started st;
     row_lock := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && (eqb_Row x1 r)) then q else (row_lock st x0 x1));
     purged := purged st;
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
     applier_imported := applier_imported st;
     applier_local_ws := applier_local_ws st;
     matched := matched st;
     crashes := crashes st;
     logged_at := logged_at st;
     rank := rank st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_receive_first : forall (new_lc : Z), guard_receive_first st new_lc ->
    step st (act_receive_first st new_lc)
| step_receive : forall (new_lc : Z) (witness : Row), guard_receive st new_lc witness ->
    step st (act_receive st new_lc witness)
| step_receive_elsewhere : forall (m : Member) (new_lc : Z), guard_receive_elsewhere st m new_lc ->
    step st (act_receive_elsewhere st m new_lc)
| step_pass_over_session : guard_pass_over_session st ->
    step st (act_pass_over_session st)
| step_pass_over : forall (m : Member), guard_pass_over st m ->
    step st (act_pass_over st m)
| step_collect_at_last : forall (purged' : Row -> bool), guard_collect_at_last st purged' ->
    step st (act_collect_at_last st purged')
| step_collect_at_burn : forall (purged' : Row -> bool), guard_collect_at_burn st purged' ->
    step st (act_collect_at_burn st purged')
| step_collect_at : forall (m : Member) (window : Z) (purged' : Row -> bool), guard_collect_at st m window purged' ->
    step st (act_collect_at st m window purged')
| step_leave_out_number : forall (m : Member), guard_leave_out_number st m ->
    step st (act_leave_out_number st m)
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_start_elsewhere : forall (m : Member) (q : Z), guard_start_elsewhere st m q ->
    step st (act_start_elsewhere st m q)
| step_finish : forall (m : Member), guard_finish st m ->
    step st (act_finish st m)
| step_apply : forall (m : Member), guard_apply st m ->
    step st (act_apply st m)
| step_crash : forall (m : Member), guard_crash st m ->
    step st (act_crash st m)
| step_execute : forall (t : Txn) (m : Member), guard_execute st t m ->
    step st (act_execute st t m)
| step_take_snapshot : forall (t : Txn), guard_take_snapshot st t ->
    step st (act_take_snapshot st t)
| step_send : forall (t : Txn), guard_send st t ->
    step st (act_send st t)
| step_roll_back : forall (t : Txn), guard_roll_back st t ->
    step st (act_roll_back st t)
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn) (r : Row), guard_refuse st t r ->
    step st (act_refuse st t r)
| step_report : forall (m : Member), guard_report st m ->
    step st (act_report st m)
| step_receive_report : forall (m : Member), guard_receive_report st m ->
    step st (act_receive_report st m)
| step_settle : forall (level : Z), guard_settle st level ->
    step st (act_settle st level)
| step_collect : forall (r : Row), guard_collect st r ->
    step st (act_collect st r)
| step_join : forall (m : Member) (donor : Member), guard_join st m donor ->
    step st (act_join st m donor)
| step_change_row : forall (m : Member) (q : Z) (r : Row), guard_change_row st m q r ->
    step st (act_change_row st m q r).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition inv_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* until the first remote transaction, the applier is as in the beginning *)
Definition inv_applier_has_not_begun (st : state) : Prop :=
  ((negb ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here))))) && ((crashes st) <=? which))) || ((Z.eqb (applier_n st) 0) && (Z.eqb (applier_base st) 0))) = true.

(* and nothing has started *)
Definition inv_applier_stands_still (st : state) : Prop :=
  (forall p : Z, ((negb ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here))))) && ((crashes st) <=? which))) || ((negb (applier_started st p)) && (negb (applier_committed st p)))) = true).

(* before the first remote transaction, no item has a number *)
Definition inv_items_have_no_number_before_the_first (st : state) : Prop :=
  (forall m : Member, (forall r : Row, ((negb (((received st m) <=? (first st m)) && (known st m r))) || (Z.eqb (item_sn st m r) 0)) = true)).

(* what is in the applier's log was received *)
Definition inv_log_is_received (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || ((0 <=? (logged_at st p)) && (((first st here) <=? (logged_at st p)) && (((logged_at st p) <? (received st here)) && (Z.eqb (rank st (logged_at st p)) p))))) = true).

(* it was certified, and is no session's *)
Definition inv_log_is_remote (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || ((certified st (txn_at st (logged_at st p))) && (negb ((live st (txn_at st (logged_at st p))) && (eqb_Member (home st (txn_at st (logged_at st p))) here))))) = true).

(* it is in the order of the group *)
Definition inv_log_is_in_order (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? q) && ((q <? (applier_n st)) && (p <? q)))))))))))) || ((logged_at st p) <? (logged_at st q))) = true)).

(* what waits for a worker is in the applier's log *)
Definition inv_what_waits_is_logged (st : state) : Prop :=
  (forall k_ : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((in_group st here) && (((upto st here) <=? k_) && ((k_ <? (received st here)) && ((certified st (txn_at st k_)) && ((negb ((live st (txn_at st k_)) && (eqb_Member (home st (txn_at st k_)) here))) && ((first st here) <=? k_)))))))))) || ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? (rank st k_)) && (((rank st k_) <? (applier_n st)) && (Z.eqb (logged_at st (rank st k_)) k_))))))) = true).

(* both models are told the same transaction *)
Definition inv_transactions_agree (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || ((Bool.eqb (applier_vc p) (Z.eqb (logged_at st p) (first st here))) && (Bool.eqb (applier_empty p) (empty (txn_at st (logged_at st p)))))) = true).

(* and the same rows *)
Definition inv_write_sets_agree (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || (Bool.eqb (applier_ws p r) ((certified st (txn_at st (logged_at st p))) && (ws (txn_at st (logged_at st p)) r)))) = true)).

(* it has the same LC and SN in both *)
Definition inv_timestamps_agree (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || ((Z.eqb (applier_sn st p) (sn st here (logged_at st p))) && (Z.eqb (applier_lc st p) (lc st here (logged_at st p))))) = true).

(* it has started in both or in none, and so it has committed *)
Definition inv_progress_agrees (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && (p <? (applier_n st))))))) || ((Bool.eqb (applier_started st p) (started st here (logged_at st p))) && (Bool.eqb (applier_committed st p) (negb ((upto st here) <=? (logged_at st p)))))) = true).

(* the next number and the window are the same *)
Definition inv_counters_agree (st : state) : Prop :=
  ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here))))) || ((Z.eqb (applier_next_sn st) (next_sn st here)) && (Z.eqb (applier_lc_global st) (lc_global st here)))) = true.

(* and so is the certification info *)
Definition inv_items_agree (st : state) : Prop :=
  (forall r : Row, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && ((first st here) <? (received st here))))) || ((Bool.eqb (applier_has st r) (known st here r)) && ((negb (applier_has st r)) || (Z.eqb (applier_item_sn st r) (item_sn st here r))))) = true).

(* while its rows are locked, no writer of them is applied after a session's snapshot *)
Definition inv_snapshots_have_applied_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (upto st (home st t))))))))) || (p <? (snap st t))) = true))).

(* what is in flight was sent after the last report of its member *)
Definition inv_snapshots_have_reported_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (reported st (home st t))))))))))) || (p <? (snap st t))) = true))).

(* and after a report that is in flight before it *)
Definition inv_snapshots_have_writers_reported_before (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((reports st (home st t)) && (((report_number st (home st t)) <? (number st t)) && (p <? (report_value st (home st t))))))))))))) || (p <? (snap st t))) = true))).

(* nobody reports what it did not apply, and later reports are higher *)
Definition inv_reports_rise (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || (((stable st) <=? (reported st m)) && (((reported st m) <=? (upto st m)) && ((negb (reports st m)) || (((reported st m) <=? (report_value st m)) && ((report_value st m) <=? (upto st m))))))) = true).

(* a report is delivered after it is sent *)
Definition inv_reports_are_in_flight (st : state) : Prop :=
  (forall m : Member, ((negb (reports st m)) || ((in_group st m) && (((arrived st m) <=? (report_number st m)) && ((report_number st m) <? (out st m))))) = true).

(* a member numbers what it sends *)
Definition inv_numbers_were_given (st : state) : Prop :=
  (forall t : Txn, ((negb (sent st t)) || ((number st t) <? (out st (home st t)))) = true).

(* no two messages of a member have one number *)
Definition inv_numbers_differ_from_reports (st : state) : Prop :=
  (forall t : Txn, ((negb ((sent st t) && (reports st (home st t)))) || (negb (Z.eqb (number st t) (report_number st (home st t))))) = true).

(* nothing is delivered that was not sent *)
Definition inv_arrivals_were_sent (st : state) : Prop :=
  (forall m : Member, ((arrived st m) <=? (out st m)) = true).

(* an item that is missing was of a stable version, or there is none *)
Definition inv_what_was_purged_is_stable (st : state) : Prop :=
  (forall r : Row, ((has st r) || ((version st (n st) r) <? (stable st))) = true).

(* nobody applies what was not delivered *)
Definition inv_members_are_in_the_order (st : state) : Prop :=
  (forall m : Member, ((0 <=? (upto st m)) && ((upto st m) <=? (n st))) = true).

(* a snapshot is what a member had applied *)
Definition inv_snapshots_are_prefixes (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) || ((0 <=? (snap st t)) && (((snap st t) <=? (n st)) && ((negb (delivered st t)) || ((snap st t) <=? (place st t)))))) = true).

(* a transaction is executed, sent, delivered, certified, in this order *)
Definition inv_places_are_positions (st : state) : Prop :=
  (forall t : Txn, (((negb (delivered st t)) || ((sent st t) && ((0 <=? (place st t)) && ((place st t) <? (n st))))) && (((negb (certified st t)) || (delivered st t)) && (((negb (sent st t)) || (begun st t)) && ((negb (live st t)) || ((begun st t) && (in_group st (home st t))))))) = true).

(* a version was written before *)
Definition inv_versions_are_earlier (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && (p <=? (n st)))) || (((-1) <=? (version st p r)) && ((version st p r) <? p))) = true)).

(* a version is a certified writer, or none *)
Definition inv_versions_are_certified_writers (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <=? (n st)) && (0 <=? (version st p r))))) || ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r))) = true)).

(* no certified writer before a position is later than its version *)
Definition inv_no_later_writer_is_missed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? q) && ((q <=? (n st)) && ((certified st (txn_at st p)) && (ws (txn_at st p) r)))))) || (p <=? (version st q r))) = true))).

(* each position is of a delivered transaction *)
Definition inv_positions_are_of_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (delivered st (txn_at st p))) = true).

(* only what was delivered is stable *)
Definition inv_stable_is_delivered (st : state) : Prop :=
  ((0 <=? (stable st)) && ((stable st) <=? (n st))) = true.

(* what is applied was received, and what is received was delivered *)
Definition inv_received_is_in_the_order (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || (((upto st m) <=? (received st m)) && (((received st m) <=? (n st)) && ((first st m) <=? (received st m))))) = true).

(* the window lies below the next number *)
Definition inv_counters (st : state) : Prop :=
  (forall m : Member, ((1 <=? (lc_global st m)) && ((lc_global st m) <? (next_sn st m))) = true).

(* LC is taken below the next number *)
Definition inv_last_committed_is_below (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && (((upto st m) <=? p) && ((p <? (received st m)) && ((certified st (txn_at st p)) && ((negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m))) && ((first st m) <? p))))))) || ((1 <=? (lc st m p)) && ((lc st m p) <? (sn st m p)))) = true)).

(* the first remote transaction after a start has (0, 0) *)
Definition inv_first_is_marked (st : state) : Prop :=
  (forall m : Member, ((negb ((in_group st m) && ((0 <=? (first st m)) && ((first st m) <? (received st m))))) || ((certified st (txn_at st (first st m))) && ((negb ((live st (txn_at st (first st m))) && (eqb_Member (home st (txn_at st (first st m))) m))) && (Z.eqb (sn st m (first st m)) 0)))) = true).

(* a worker runs what its member received *)
Definition inv_started_was_received (st : state) : Prop :=
  (forall m : Member, (forall p : Z, ((negb ((in_group st m) && (started st m p))) || ((p <? (received st m)) && ((certified st (txn_at st p)) && (negb ((live st (txn_at st p)) && (eqb_Member (home st (txn_at st p)) m)))))) = true)).

(* a session's snapshot is applied at its member *)
Definition inv_snapshots_were_applied (st : state) : Prop :=
  (forall t : Txn, ((negb (live st t)) || ((snap st t) <=? (upto st (home st t)))) = true).

(* at its position, no row that it writes is newer than its snapshot *)
Definition inv_what_is_written_is_current (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certified st t) && (ws t r))) || ((version st (place st t) r) <? (snap st t))) = true)).

(* each position is its transaction's place *)
Definition inv_positions_are_places (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (Z.eqb (place st (txn_at st p)) p)) = true).

(* it is inductive *)
Definition inv_rows_of_a_session_are_its_own (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((live st t) && (ws t r))) || (Z.eqb (row_lock st (home st t) r) (-1))) = true)).

(* no two sessions of a member have locked one row *)
Definition inv_sessions_lock_apart (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((live st t) && ((live st u) && ((eqb_Member (home st t) (home st u)) && ((ws t r) && (ws u r)))))) || (eqb_Txn t u)) = true))).

(* the window lies below the next number *)
Definition inv_applier_counters (st : state) : Prop :=
  ((0 <=? (applier_n st)) && ((0 <=? (applier_base st)) && (((applier_base st) <=? (applier_n st)) && ((1 <=? (applier_lc_global st)) && ((applier_lc_global st) <? (applier_next_sn st)))))) = true.

(* what was numbered in this epoch is below the next number *)
Definition inv_applier_numbers_lie_below_the_counter (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && (Z.eqb (applier_epoch st p) (applier_base st)))))) || ((applier_sn st p) <? (applier_next_sn st))) = true).

(* LC is taken below the next number *)
Definition inv_applier_last_committed_is_below (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && (negb (applier_vc p))))) || ((1 <=? (applier_lc st p)) && ((applier_lc st p) <? (applier_sn st p)))) = true).

(* the statement is inductive *)
Definition inv_applier_last_committed_is_minimal (st : state) : Prop :=
  (forall q : Z, ((negb ((0 <=? q) && ((q <? (applier_n st)) && ((negb (applier_vc q)) && (negb (applier_empty q)))))) || ((Z.eqb (applier_lc st q) (applier_window st q)) || ((0 <=? (applier_parent st q)) && (((applier_parent st q) <? q) && ((applier_ws (applier_parent st q) (applier_shared st q)) && ((applier_ws q (applier_shared st q)) && ((Z.eqb (applier_sn st (applier_parent st q)) (applier_lc st q)) || (applier_vc (applier_parent st q))))))))) = true).

(* an item's number is that of a writer of the row *)
Definition inv_applier_item_names_its_writer (st : state) : Prop :=
  (forall r : Row, ((negb ((applier_has st r) && (1 <=? (applier_item_sn st r)))) || ((0 <=? (applier_item_position st r)) && (((applier_item_position st r) <? (applier_n st)) && ((applier_ws (applier_item_position st r) r) && ((Z.eqb (applier_sn st (applier_item_position st r)) (applier_item_sn st r)) || (applier_vc (applier_item_position st r))))))) = true).

(* an uncommitted writer is remembered by the row's item or by the window *)
Definition inv_applier_item_is_covered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_base st)) && (applier_ws p r)))))) || ((applier_committed st p) || (((applier_has st r) && ((applier_sn st p) <=? (applier_item_sn st r))) || ((applier_sn st p) <=? (applier_lc_global st))))) = true)).

(* one without write set is remembered by the window *)
Definition inv_applier_fence_is_covered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_base st)) && (applier_empty p)))))) || ((applier_sn st p) <=? (applier_lc_global st))) = true).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_applier_row_dependency_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_ws p r) && (applier_ws q r))))))))))) || (((applier_sn st p) <=? (applier_lc st q)) || (applier_committed st p))) = true))).

(* LC reaches across a transaction without write set *)
Definition inv_applier_fence_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_empty p) || (applier_empty q))))))))))) || ((applier_sn st p) <=? (applier_lc st q))) = true)).

(* each started transaction had everything up to its LC committed *)
Definition inv_applier_start_respects_last_committed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_started st q) && ((applier_sn st p) <=? (applier_lc st q)))))))))))) || (applier_committed st p)) = true)).

(* a view change started after everything before it had committed *)
Definition inv_applier_view_change_waited (st : state) : Prop :=
  (forall p : Z, (forall v : Z, ((negb ((0 <=? v) && ((v <? (applier_n st)) && ((applier_vc v) && ((applier_started st v) && ((0 <=? p) && (p <? v))))))) || (applier_committed st p)) = true)).

(* whatever follows a view change started after it *)
Definition inv_applier_view_change_is_waited_for (st : state) : Prop :=
  (forall v : Z, (forall q : Z, ((negb ((0 <=? v) && ((v <? q) && ((0 <=? q) && ((q <? (applier_n st)) && ((applier_vc v) && ((negb (applier_vc q)) && (applier_started st q)))))))) || (applier_committed st v)) = true)).

(* nothing commits that did not start *)
Definition inv_applier_finished_was_started (st : state) : Prop :=
  (forall p : Z, ((negb (applier_committed st p)) || (applier_started st p)) = true).

(* nothing starts that was not delivered *)
Definition inv_applier_started_was_delivered (st : state) : Prop :=
  (forall p : Z, ((negb (applier_started st p)) || ((0 <=? p) && (p <? (applier_n st)))) = true).

(* between two epochs lies the view change that reset the counters *)
Definition inv_applier_epoch_begins_with_a_view_change (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && (negb (Z.eqb (applier_epoch st p) (applier_epoch st q))))))))) || ((p <? (applier_epoch st q)) && (((applier_epoch st q) <=? q) && (applier_vc (applier_epoch st q))))) = true)).

(* an earlier epoch lies before the view change that began this one *)
Definition inv_applier_old_epoch_lies_before_the_base (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (applier_n st)))) || (((applier_epoch st p) <=? (applier_base st)) && ((Z.eqb (applier_epoch st p) (applier_base st)) || (p <? (applier_base st))))) = true).

(* an epoch begins at a view change, or at the beginning *)
Definition inv_applier_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (applier_base st) 0) || ((applier_vc (applier_base st)) && ((applier_base st) <? (applier_n st)))) = true.

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition safe_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* a member starts no transaction before every earlier writer of its rows has committed *)
Definition safe_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? q) && ((q <? (applier_n st)) && (((logged_at st p) <? (logged_at st q)) && ((started st here (logged_at st q)) && ((certified st (txn_at st (logged_at st p))) && ((ws (txn_at st (logged_at st p)) r) && ((certified st (txn_at st (logged_at st q))) && (ws (txn_at st (logged_at st q)) r))))))))))))))))) || (negb ((upto st here) <=? (logged_at st p)))) = true))).

(* a transaction without write set runs beside no other worker *)
Definition safe_without_write_set_is_alone (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? q) && ((q <? (applier_n st)) && (((logged_at st p) <? (logged_at st q)) && ((started st here (logged_at st q)) && ((empty (txn_at st (logged_at st p))) || (empty (txn_at st (logged_at st q))))))))))))))))) || (negb ((upto st here) <=? (logged_at st p)))) = true)).

(* the transaction with (0, 0) runs beside nothing *)
Definition safe_first_is_a_barrier (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? q) && ((q <? (applier_n st)) && (((logged_at st p) <? (logged_at st q)) && ((started st here (logged_at st q)) && ((Z.eqb (logged_at st p) (first st here)) || (Z.eqb (logged_at st q) (first st here)))))))))))))))) || (negb ((upto st here) <=? (logged_at st p)))) = true)).

(* LC < SN, so that no transaction waits for itself *)
Definition safe_last_committed_is_below (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && (negb (Z.eqb (logged_at st p) (first st here))))))))) || ((1 <=? (lc st here (logged_at st p))) && ((lc st here (logged_at st p)) <? (sn st here (logged_at st p))))) = true).

(* LC is the window, or the number of an earlier writer of a common row *)
Definition safe_last_committed_is_minimal (st : state) : Prop :=
  (forall p : Z, ((negb ((Z.eqb (crashes st) which) && ((in_group st here) && (((first st here) <? (received st here)) && ((0 <=? p) && ((p <? (applier_n st)) && ((negb (Z.eqb (logged_at st p) (first st here))) && (negb (empty (txn_at st (logged_at st p))))))))))) || ((Z.eqb (lc st here (logged_at st p)) (applier_window st p)) || (((logged_at st (applier_parent st p)) <? (logged_at st p)) && ((certified st (txn_at st (logged_at st (applier_parent st p)))) && ((ws (txn_at st (logged_at st (applier_parent st p))) (applier_shared st p)) && ((certified st (txn_at st (logged_at st p))) && ((ws (txn_at st (logged_at st p)) (applier_shared st p)) && ((Z.eqb (sn st here (logged_at st (applier_parent st p))) (lc st here (logged_at st p))) || (Z.eqb (logged_at st (applier_parent st p)) (first st here)))))))))) = true).

