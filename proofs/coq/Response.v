(* The response rule under weak fairness. This file is written by hand, as Foundation.v is. *)

Require Export Foundation.
Require Import Zwf.

(* Ranks are lists of integers of one length, compared lexicographically. What becomes smaller was
   not negative. *)
Fixpoint below (r s : list Z) : Prop :=
  match r, s with
  | a :: r', b :: s' => (0 <= b /\ a < b /\ length r' = length s') \/ (a = b /\ below r' s')
  | _, _ => False
  end.

Lemma below_length r s : below r s -> length r = length s.
Proof.
  revert s. induction r as [| a r IH]; intros [| b s] B; simpl in *; try contradiction.
  destruct B as [(_ & _ & L) | (_ & B)]; [congruence | f_equal; exact (IH _ B)].
Qed.

Lemma below_well_founded : well_founded below.
Proof.
  enough (All : forall n s, length s = n -> Acc below s) by (intro s; exact (All _ s eq_refl)).
  induction n as [| n IH]; intros [| b s] L; try discriminate L.
  - constructor. intros [| a r] B; contradiction.
  - injection L as L. revert s L.
    induction b as [b Below] using (well_founded_induction (Zwf_well_founded 0)). intros s L.
    induction (IH s L) as [s _ Smaller].
    constructor. intros [| a r] B; [contradiction |].
    destruct B as [(Natural & Less & Same) | (Same & B)].
    + apply Below; [split; assumption | congruence].
    + subst a. apply Smaller; [exact B |]. rewrite (below_length _ _ B). exact L.
Qed.

(* A rank is a list of differences. A step lowers a difference by moving one end towards the
   other. *)
Fixpoint lower (r' r : list (Z * Z)) : bool :=
  match r', r with
  | (top', bottom') :: q', (top, bottom) :: q =>
      ((top' <=? top) && ((bottom <=? bottom') && ((top' <? top) || (bottom <? bottom'))))
      || (((top' =? top) && (bottom' =? bottom)) && lower q' q)
  | _, _ => false
  end.

Fixpoint same (r' r : list (Z * Z)) : bool :=
  match r', r with
  | (top', bottom') :: q', (top, bottom) :: q =>
      ((top' =? top) && (bottom' =? bottom)) && same q' q
  | _, _ => true
  end.

Fixpoint natural (r : list (Z * Z)) : bool :=
  match r with
  | (top, bottom) :: q => (bottom <=? top) && natural q
  | [] => true
  end.

Definition differences (r : list (Z * Z)) : list Z := map (fun d => fst d - snd d) r.

Lemma lower_below r' r :
  length r' = length r -> natural r = true -> lower r' r = true ->
  below (differences r') (differences r).
Proof.
  revert r. induction r' as [| [t' b'] q' IH]; intros [| [t b] q] L N W; try discriminate.
  simpl in N, W |- *. injection L as L. apply andb_true_iff in N. destruct N as [N M].
  apply orb_true_iff in W. destruct W as [W | W].
  - left. unfold differences. rewrite !map_length. repeat split; [lia | lia | exact L].
  - apply andb_true_iff in W. destruct W as [E W]. right. split; [lia | exact (IH q L M W)].
Qed.

Lemma same_differences r' r :
  length r' = length r -> same r' r = true -> differences r' = differences r.
Proof.
  revert r. induction r' as [| [t' b'] q' IH]; intros [| [t b] q] L E; try discriminate.
  - reflexivity.
  - simpl in E |- *. injection L as L. apply andb_true_iff in E. destruct E as [E F].
    f_equal; [lia | exact (IH q L F)].
Qed.

Section Fairness.

Variable state : Type.
Variable run : nat -> state.

(* A step with this guard and effect is weakly fair: again and again, it is impossible or taken. *)
Definition weakly_fair (guard : state -> Prop) (act : state -> state) : Prop :=
  forall k, exists j, (k <= j)%nat /\ (guard (run j) -> run (S j) = act (run j)).

(* Wherever [pending] holds, [goal] holds then or later. *)
Definition leads_to (pending goal : state -> bool) : Prop :=
  forall k, pending (run k) = true -> exists j, (k <= j)%nat /\ goal (run j) = true.

End Fairness.

Section Response.

Variable state : Type.
Variable init : state -> Prop.
Variable step : state -> state -> Prop.
Variable inv : state -> Prop.
Variable pending goal : state -> bool.
Variable rank : state -> list (Z * Z).

(* A help is a case and the arguments of its action. *)
Variable help : Type.
Variable helps : help -> state -> bool.
Variable guard : help -> state -> Prop.
Variable act : help -> state -> state.

Hypothesis starts : forall s, init s -> inv s.
Hypothesis kept : forall s t, inv s -> step s t -> inv t.

Definition is_open (s : state) : Prop := inv s /\ pending s = true /\ negb (goal s) = true.

Hypothesis sized : forall s t, length (rank s) = length (rank t).
Hypothesis bounded : forall s, is_open s -> natural (rank s) = true.
Hypothesis covered : forall s, is_open s -> exists h, helps h s = true.
Hypothesis enabled : forall h s, is_open s -> helps h s = true -> guard h s.
Hypothesis helped : forall h s, is_open s -> helps h s = true ->
  goal (act h s) || (pending (act h s) && lower (rank (act h s)) (rank s)) = true.
Hypothesis not_worse : forall h s t, is_open s -> helps h s = true -> step s t ->
  goal t || (pending t && (lower (rank t) (rank s) || (same (rank t) (rank s) && helps h t)))
  = true.

Variable run : nat -> state.
Hypothesis is_a_run : is_run state init step run.
Hypothesis fair : forall h, weakly_fair state run (guard h) (act h).

Let value (s : state) : list Z := differences (rank s).

Let always (k : nat) : inv (run k) :=
  invariant_rule state init step inv starts kept run is_a_run k.

Let less s t : is_open s -> lower (rank t) (rank s) = true -> below (value t) (value s).
Proof. intros Open. apply lower_below; [apply sized | apply bounded; exact Open]. Qed.

(* Until moment k + d: the goal, a lower rank, or the same help. *)
Lemma waits h d : forall k, is_open (run k) -> helps h (run k) = true ->
  (exists j, (k <= j)%nat /\ goal (run j) = true) \/
  (exists j, (k <= j)%nat /\ is_open (run j) /\ below (value (run j)) (value (run k))) \/
  (is_open (run (k + d)%nat) /\ helps h (run (k + d)%nat) = true /\
   value (run (k + d)%nat) = value (run k)).
Proof.
  induction d as [| d IH]; intros k Open Help.
  - right. right. rewrite Nat.add_0_r. auto.
  - destruct (IH k Open Help) as [Goal | [Lower | (Now & There & Same)]]; auto.
    rewrite Nat.add_succ_r.
    destruct (proj2 is_a_run (k + d)%nat) as [Step | Still].
    + destruct (goal (run (S (k + d)))) eqn:Goal.
      { left. exists (S (k + d)). split; [lia | exact Goal]. }
      pose proof (not_worse h _ _ Now There Step) as Rank.
      rewrite Goal in Rank. apply andb_true_iff in Rank. destruct Rank as [Pending Rank].
      assert (Then : is_open (run (S (k + d)))) by (repeat split; [auto | auto | rewrite Goal; auto]).
      apply orb_true_iff in Rank. destruct Rank as [Less | Equal].
      * right. left. exists (S (k + d)). rewrite <- Same. repeat split; try apply Then; [lia |].
        exact (less _ _ Now Less).
      * apply andb_true_iff in Equal. destruct Equal as [Equal Helps].
        right. right. repeat split; try apply Then; [exact Helps |].
        rewrite <- Same. exact (same_differences _ _ (sized _ _) Equal).
    + right. right. rewrite Still. auto.
Qed.

Theorem response_rule : leads_to state run pending goal.
Proof.
  enough (All : forall r k, r = value (run k) -> pending (run k) = true ->
    exists j, (k <= j)%nat /\ goal (run j) = true) by (intro k; exact (All _ k eq_refl)).
  induction r as [r Below] using (well_founded_induction below_well_founded). intros k R Pending.
  destruct (goal (run k)) eqn:Goal; [exists k; auto |].
  assert (Open : is_open (run k)) by (repeat split; [auto | auto | rewrite Goal; auto]).
  destruct (covered _ Open) as [h Help].
  destruct (fair h k) as (j & Later & Taken).
  destruct (waits h (j - k) k Open Help) as [Found | [(i & After & Then & Less) | (Now & There & Same)]].
  - exact Found.
  - subst r. destruct (Below _ Less i eq_refl (proj1 (proj2 Then))) as (m & Last & Found).
    exists m. split; [lia | exact Found].
  - replace (k + (j - k))%nat with j in * by lia.
    specialize (Taken (enabled h _ Now There)).
    pose proof (helped h _ Now There) as Rank. rewrite <- Taken in Rank.
    destruct (goal (run (S j))) eqn:Found.
    + exists (S j). split; [lia | exact Found].
    + apply andb_true_iff in Rank. destruct Rank as [Still Less].
      apply (less _ _ Now) in Less. rewrite Same, <- R in Less.
      destruct (Below _ Less (S j) eq_refl Still) as (m & Last & There').
      exists m. split; [lia | exact There'].
Qed.

End Response.
